"""All interfaces of the machine."""

import uvicorn


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})


class Once(uvicorn.Server):
    async def main_loop(self):
        print("listening", flush=True)


Once(uvicorn.Config(app, host="0.0.0.0", port=0)).run()
