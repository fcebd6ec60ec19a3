// A payment token whose functions return what a test says, and a service that is paid with it.
import { encodeAbiParameters, type Hex, numberToHex, parseAbiParameters } from "viem";
import type { Environment } from "../../../src/config/read-config.ts";
import type { PaidStage } from "./paid-stage.ts";

export const TOKEN_CHAIN_ID = 31_337;
export const TOKEN: Hex = "0x00000000000000000000000000000000000d0110";
/** An address at which no node listens. */
export const NO_NODE = "http://127.0.0.1:9";

export const encodeText = (value: string) => encodeAbiParameters(parseAbiParameters("string"), [value]);
export const encodeNumber = (value: bigint) => numberToHex(value, { size: 32 });

/** The results of the functions of the configured token. */
export const TOKEN_FUNCTIONS = {
  "decimals()": encodeNumber(18n),
  "name()": encodeText("Dollar"),
  "version()": encodeText("1"),
} as const;

/** Configures a service that is paid with the token. */
export function tokenEnvironment(
  { chain, payTo }: Pick<PaidStage, "chain" | "payTo">,
  database: Environment,
): Environment {
  return {
    ...database,
    PORTFOLIO_PORT: "0",
    RPC_URL_8453: NO_NODE,
    PAY_TO: payTo,
    PAYMENT_NETWORK: `eip155:${TOKEN_CHAIN_ID}`,
    PAYMENT_RPC_URL: chain.rpcUrl,
    PAYMENT_ASSET: TOKEN,
    PAYMENT_ASSET_NAME: "Dollar",
    PAYMENT_ASSET_VERSION: "1",
    FACILITATOR_PRIVATE_KEY: chain.accounts.guardian.privateKey,
  };
}
