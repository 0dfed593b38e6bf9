-- The rest of a return: units that any region can lease again.
if not is_repeated then
  local kept = row.leased > units and row.leased - units or 0
  call('HSET', row.key, 'leased', digits(kept))
end
return {new_epoch, 1}
