// The page of a snapshot.
import { startPayPage } from "./pay-form.js";
import { renderSnapshot } from "./snapshot-view.js";

startPayPage({ describeWallet: () => [], render: renderSnapshot });
