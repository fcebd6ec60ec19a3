// Whether writes are open or signed. Decided at startup, and never open by accident.
import { localChain } from "../chain/chains/local.ts";
import type { Config } from "../config/read-config.ts";
import type { writeSettings } from "../config/settings.ts";
import { Fault } from "../lib/fault.ts";

export function resolveWriteMode(
  { writeAuth, allowOpenWrites }: Pick<Config<typeof writeSettings>, "writeAuth" | "allowOpenWrites">,
  chainId: number,
): "open" | "signed" {
  // Development nodes use this chain id, so no other user's data is at risk.
  const isLocal = chainId === localChain.chainId;
  if (writeAuth === "open" && !isLocal && !allowOpenWrites) {
    throw new Fault(
      "CONFIG_INVALID",
      `WRITE_AUTH=open lets anyone write on chain ${chainId}; set WRITE_AUTH=signed, or ALLOW_OPEN_WRITES=true if this is intended.`,
    );
  }
  return writeAuth ?? (isLocal ? "open" : "signed");
}
