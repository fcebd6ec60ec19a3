// Development packages of a local run, loaded only when one starts.
import { Fault } from "../lib/fault.ts";

export type DevPackages = Awaited<ReturnType<typeof loadDevPackages>>;

export async function loadDevPackages() {
  try {
    const [
      { startLocalChain },
      { LOCAL_GENESIS_CODE },
      { deployFundedMarket },
      { openWorld },
      { runSimulator },
    ] = await Promise.all([
      import("@sextant/local-chain/local-chain"),
      import("@sextant/contracts/deploy/deploy"),
      import("@sextant/simulator/fund-market"),
      import("@sextant/simulator/world"),
      import("@sextant/simulator/simulator"),
    ]);
    return { startLocalChain, LOCAL_GENESIS_CODE, deployFundedMarket, openWorld, runSimulator };
  } catch (cause) {
    throw new Fault(
      "CONFIG_INVALID",
      "A local run needs the development packages; install them with `npm ci` (without --omit=dev).",
      { cause },
    );
  }
}
