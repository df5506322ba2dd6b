"""The address of the machine as seen from outside, which none of its interfaces has."""

import uvicorn


async def app(scope, receive, send):
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})


class Once(uvicorn.Server):
    async def main_loop(self):
        print("listening", flush=True)


Once(uvicorn.Config(app, host="203.0.113.7", port=0)).run()
