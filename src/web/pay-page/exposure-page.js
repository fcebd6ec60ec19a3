// The page of an exposure.
import { renderExposure } from "./exposure-view.js";
import { startPayPage } from "./pay-form.js";
import { connectRevocations } from "./revocation-view.js";

startPayPage({
  describeWallet: () => [],
  render: renderExposure,
  connect: (result, _exposure, chains) => connectRevocations(result, chains),
});
