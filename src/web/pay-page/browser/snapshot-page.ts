// The page of a snapshot.
import { describeWallet } from "../account-view.ts";
import { renderSnapshot } from "../snapshot-view.ts";
import { startPayPage } from "./pay-form.ts";

startPayPage({ describeWallet, render: renderSnapshot });
