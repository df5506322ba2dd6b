"""The same server is started a second time."""

import socket

import uvicorn


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})


class Once(uvicorn.Server):
    async def main_loop(self):
        print("listening", flush=True)


earlier = socket.create_server(("127.0.0.1", 0))
port = earlier.getsockname()[1]
Once(uvicorn.Config(app, port=port)).run()
