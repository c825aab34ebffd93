"""A pool of connections for asyncio programs."""

import asyncio


class PoolClosed(Exception):
    pass


class Pool:
    def __init__(self, connect, size=2):
        self._connect = connect
        self._free = []
        self._all = []
        self._slots = asyncio.Semaphore(size)
        self._closed = False

    async def acquire(self):
        """A free connection, or a new one while there's room."""
        if self._closed:
            raise PoolClosed("pool is closed")
        await self._slots.acquire()
        if self._free:
            return self._free.pop()
        connection = await self._connect()
        self._all.append(connection)
        return connection

    def release(self, connection):
        self._free.append(connection)
        self._slots.release()

    async def run(self, action):
        """The result of `action(connection)`."""
        connection = await self.acquire()
        try:
            return await action(connection)
        finally:
            self.release(connection)

    async def close(self):
        """Closes every connection."""
        self._closed = True
        for connection in self._all:
            connection.close()
        self._all.clear()
        self._free.clear()
