-- The rest of a return of a tenant: units that are its own again, and beyond its guarantee anyone's.
--
-- ARGV[7]   and the next five: the tenant
local pool = not is_repeated and find_pool(ends)
if pool then
  fair_window({pool = pool}, -units, REFUSE, nil, window, tenant_from(7))
  write_pool(pool)
end
return {new_epoch, 1}
