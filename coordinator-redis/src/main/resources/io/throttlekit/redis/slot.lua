-- In a Cluster, where slots move between servers, each call compares the server's history.
compare_history('', '0')
