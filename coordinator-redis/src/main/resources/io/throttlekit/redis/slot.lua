-- In a Cluster, where slots move from server to server, each call compares their history.
compare_history('', '0')
