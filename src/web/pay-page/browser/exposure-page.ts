// The page of an exposure.
import { renderExposure } from "../exposure-view.ts";
import { startPayPage } from "./pay-form.ts";
import { connectRevocations } from "./revocations.ts";

startPayPage({
  describeWallet: () => [],
  render: renderExposure,
  connect: (result, _exposure, chains) => connectRevocations(result, chains),
});
