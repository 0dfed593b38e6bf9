-- The division of a limit among tenants by weight, with the results of Products and TenantClass in
-- memory. A weight is negative if it is not listed.
--
-- Sums of weights reach 2^60 and products 2^113, above what doubles hold exactly. Where that is
-- possible, numbers are computed as three limbs of 20 bits, the lowest first.

local ALL = 1000000 -- the whole limit, in millionths
local LIMB = 1048576
local MAX_OFF = 1000 -- of a guarantee in doubles from the exact one
local LISTED, UNLISTED, BOTH = 1, -1, 0

local function limbs(a)
  local low = fmod(a, LIMB)
  local rest = (a - low) / LIMB
  local middle = fmod(rest, LIMB)
  return {low, middle, (rest - middle) / LIMB}
end

-- Whether a * b < c * d, of limbs
local function is_less(a, b, c, d)
  local difference = {0, 0, 0, 0, 0, 0}
  for i = 1, 3 do
    for j = 1, 3 do
      difference[i + j - 1] = difference[i + j - 1] + a[i] * b[j] - c[i] * d[j]
    end
  end
  for i = 1, 5 do
    difference[i + 1] = difference[i + 1] + floor(difference[i] / LIMB)
  end
  return difference[6] < 0
end

-- The sum of the weights of active tenants, rounded if it is above MAX
local function weight_of(groups, class)
  local sum = 0
  for weight, group in pairs(groups) do
    if weight * class >= 0 then
      sum = sum + (group.seen + group.carried) * (weight < 0 and -weight or weight)
    end
  end
  return sum
end

-- The same in limbs, exactly
local function exact_weight_of(groups, class)
  local low, rest = 0, 0
  for weight, group in pairs(groups) do
    if weight * class >= 0 then
      local count, each = group.seen + group.carried, weight < 0 and -weight or weight
      local end_of_weight = fmod(each, LIMB)
      low = low + count * end_of_weight
      rest = rest + count * ((each - end_of_weight) / LIMB)
    end
  end
  local carry = floor(low / LIMB)
  local upper = limbs(rest + carry)
  return {low - carry * LIMB, upper[1], upper[2]}
end

-- The limit times millionths, rounded down
local function part_of(limit, millionths)
  local rest = fmod(limit, ALL)
  return (limit - rest) / ALL * millionths + floor(rest * millionths / ALL)
end

-- What guarantees are computed from: for listed and unlisted tenants the units, and the class whose
-- weights they are divided by
local function divide(groups, limit, unlisted_millionths)
  local listed, unlisted = weight_of(groups, LISTED), weight_of(groups, UNLISTED)
  local all = listed + unlisted
  local exceeds = false
  if listed > 0 and all <= MAX / ALL then
    exceeds = unlisted * ALL > unlisted_millionths * all
  elseif listed > 0 then
    exceeds = is_less(limbs(unlisted_millionths), exact_weight_of(groups, BOTH), limbs(ALL),
      exact_weight_of(groups, UNLISTED))
  end
  if exceeds then
    -- Both parts are rounded down, so that no guarantee rises when another tenant joins.
    return {
      listed = {units = part_of(limit, ALL - unlisted_millionths), by = listed, class = LISTED},
      unlisted = {units = part_of(limit, unlisted_millionths), by = unlisted, class = UNLISTED},
    }
  end
  local whole = {units = limit, by = all, class = BOTH}
  return {listed = whole, unlisted = whole}
end

-- The guarantee of each tenant of a weight, in units: weight * units / by, rounded down
local function guarantee_of(groups, division, weight)
  local among = weight > 0 and division.listed or division.unlisted
  local each, units, by = weight < 0 and -weight or weight, among.units, among.by
  if by <= MAX then
    local rest = fmod(units, by)
    local product = each * rest
    if product <= MAX then
      return each * ((units - rest) / by) + (product - fmod(product, by)) / by
    end
  end
  local part, whole, exact = limbs(each), limbs(units), exact_weight_of(groups, among.class)
  local guarantee = floor(each / by * units) -- off by a few
  guarantee = guarantee < units and guarantee or units
  -- bounded: sums that are not those of the tenants, in a key that others have written, must not hold
  -- up all of Redis
  for _ = 1, MAX_OFF do
    if is_less(part, whole, limbs(guarantee), exact) then
      guarantee = guarantee - 1
    elseif not is_less(part, whole, limbs(guarantee + 1), exact) then
      guarantee = guarantee + 1
    else
      break
    end
  end
  return guarantee
end
