import asyncio

import pytest

from pool import Pool, PoolClosed


class Connection:
    def __init__(self):
        self.open = True

    async def close(self):
        await asyncio.sleep(0)
        self.open = False


async def connect():
    return Connection()


async def is_open(connection):
    return connection.open


def test_run():
    async def main():
        return await Pool(connect).run(is_open)

    assert asyncio.run(main()) is True


def test_connections_are_used_again():
    async def main():
        pool = Pool(connect)
        first = await pool.acquire()
        pool.release(first)
        return first is await pool.acquire()

    assert asyncio.run(main())


def test_error_releases():
    async def fail(connection):
        raise RuntimeError("no")

    async def main():
        pool = Pool(connect, size=1)
        with pytest.raises(RuntimeError):
            await pool.run(fail)
        return await asyncio.wait_for(pool.acquire(), 1)

    assert asyncio.run(main()).open


def test_close():
    async def main():
        pool = Pool(connect)
        first, second = await pool.acquire(), await pool.acquire()
        await pool.close()
        return first.open, second.open

    assert asyncio.run(main()) == (False, False)


def test_closed_pool():
    async def main():
        pool = Pool(connect)
        await pool.close()
        await pool.acquire()

    with pytest.raises(PoolClosed):
        asyncio.run(main())
