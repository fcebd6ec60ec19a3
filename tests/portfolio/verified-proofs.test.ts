// Responses bought with `proof=1` from the real service, checked by the client's verifier, which shares no code with the prover.
import { verify } from "@sextant/client/verify/verify";
import { namedAccounts } from "@sextant/local-chain/accounts";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  openPayingClient,
  openServiceStage,
  type PortfolioService,
  type ServiceStage,
} from "./service-stage.ts";

let stage: ServiceStage;
let service: PortfolioService;
const wallet = namedAccounts().payer.address.toLowerCase();
beforeAll(async () => {
  stage = await openServiceStage();
  service = await stage.serve({ environment: { PROOF_PRICE_USD: "0.004" } });
});
afterAll(() => stage.close());

it.each(["/portfolio?address=", "/exposure?address="])(
  "finds nothing wrong in %s with proofs, and proves it by nodes",
  async (path) => {
    const { fetch: pay } = await openPayingClient(stage);
    const url = `${service.url}${path}${wallet}&chains=base&proof=1`;
    const response = await pay(url);
    const body = await response.text();
    expect(response.status, body).toBe(200);
    const result = await verify({ body, request: { method: "GET", url } });
    expect(result.rows.filter(({ status }) => status === "wrong")).toEqual([]);
    const urls = [stage.base.node.url, stage.base.node.url.replace("127.0.0.1", "localhost")];
    const online = await verify(body, { nodes: urls });
    expect(online.rows.filter(({ status }) => status === "wrong")).toEqual([]);
    expect(
      online.rows.some(({ path, status }) => /^\/(tokens|permissions)/.test(path) && status === "proven"),
    ).toBe(true);
  },
);
