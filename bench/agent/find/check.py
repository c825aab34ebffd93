from app import net, other

assert (net.TIMEOUT, net.RETRIES, other.LIMIT) == (60, 3, 30)
