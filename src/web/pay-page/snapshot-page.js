// The page of a snapshot.
import { describeWallet } from "./account-view.js";
import { startPayPage } from "./pay-form.js";
import { renderSnapshot } from "./snapshot-view.js";

startPayPage({ describeWallet, render: renderSnapshot });
