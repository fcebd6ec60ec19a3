"""The main calls with httpx and x402's own client, next to `npm start`: docs/calls.md explains each region."""

# #region setup
import asyncio
import os

import httpx
from eth_account import Account
from x402 import max_amount, x402Client
from x402.http.clients import x402HttpxClient
from x402.mechanisms.evm import EthAccountSigner
from x402.mechanisms.evm.exact.register import register_exact_evm_client

ADDRESS = "0x14dC79964da2C08b23698B3D3cc7Ca32193d9955"
API = os.environ.get("SEXTANT_API_URL", "http://127.0.0.1:3001")
PORTFOLIO = os.environ.get("SEXTANT_PORTFOLIO_URL", "http://127.0.0.1:3002")
api = httpx.Client(base_url=API)
signer = EthAccountSigner(Account.from_key(os.environ["PAYER_PRIVATE_KEY"]))
payer = register_exact_evm_client(x402Client(), signer, "eip155:31337", [max_amount(20_000)])


def buy(path: str, **params: str) -> dict:
    async def run() -> dict:
        async with x402HttpxClient(payer, base_url=PORTFOLIO, timeout=60) as http:
            response = await http.get(path, params={"address": ADDRESS, **params})
            return response.raise_for_status().json()

    return asyncio.run(run())
# #endregion setup

# #region snapshot
print(buy("/portfolio", chains="base")["summary"]["totalValueUsd"])
# #endregion snapshot

# #region exposure
for permission in buy("/exposure")["permissions"]:
    print(permission["kind"], permission["spender"])
# #endregion exposure

# #region diff
for token in buy("/portfolio/diff", chains="base", **{"from": "7d"})["tokens"]:
    print(token["contract"], token["changeUsd"])
# #endregion diff

# #region record
print(api.get("/agents/1").raise_for_status().json()["owner"])
# #endregion record

# #region list
params = {"status": "open"}
while True:
    page = api.get("/intents", params=params).raise_for_status().json()
    for intent in page["intents"]:
        print(intent["intent_id"])
    params["cursor"] = page["pagination"].get("next_cursor")
    if params["cursor"] is None:
        break
# #endregion list

# #region preflight
plan = {
    "account": "0x3958cf1cf076864bb2c6c05172696fb64316aa3f",
    "target": "0x8a791620dd6260079bf849dc5567adc3f2fdc318",
    "value": "0",
    "data": "0x",
}
verdict = api.post("/preflight", json=plan).raise_for_status().json()
print(verdict["allowed"], verdict["reasons"])
# #endregion preflight

# #region events
events = {"from": "genesis", "type": "IntentSubmitted"}
stream = {"accept": "text/event-stream"}
with api.stream("GET", "/events", params=events, headers=stream, timeout=None) as response:
    for line in response.iter_lines():
        if line.startswith("data:"):
            print(line)
            break
# #endregion events
