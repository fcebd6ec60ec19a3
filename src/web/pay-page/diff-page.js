// The page of a difference.
import { renderDifference } from "./diff-view.js";
import { startPayPage } from "./pay-form.js";

startPayPage({ describeWallet: () => [], render: renderDifference });
