// The page of a difference.
import { renderDifference } from "../diff-view.ts";
import { startPayPage } from "./pay-form.ts";

startPayPage({ describeWallet: () => [], render: renderDifference });
