import names
import uses

assert names.new() == 7 and uses.twice() == 14 and not hasattr(names, "old")
