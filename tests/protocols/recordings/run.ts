// Runs the contracts of one protocol once and records what they return to its reader:
//
//   npx tsx tests/protocols/recordings/run.ts <recording> <folder> "<source>"
//
// The folder has the contracts as the protocol's own build compiled them, one JSON file each with `abi` and `bytecode`, as
// Foundry and Hardhat write. The source is what they were built from, such as "lidofinance/core at 372b02e of 2026-06-23".
// The recording replaces the file in tests/fixtures.

import { startRecorder } from "../support/recorder.ts";
import { recordAaveStaking, recordStata } from "./aave-staking.ts";
import { recordCompoundV3 } from "./compound-v3.ts";
import { recordEthena } from "./ethena.ts";
import { recordEtherFi } from "./ether-fi.ts";
import { recordEuler } from "./euler.ts";
import { recordFluid } from "./fluid.ts";
import { recordLido } from "./lido.ts";
import { recordMoonwell } from "./moonwell.ts";
import { recordRocketPool } from "./rocket-pool.ts";
import { recordSavings, recordSavingsRate } from "./sky.ts";
import { recordSlipstream } from "./slipstream.ts";
import { recordAllowanceModule, recordCalibur } from "./smart-accounts.ts";
import { recordVelodrome } from "./velodrome.ts";
import { recordVenus } from "./venus.ts";
import { recordYearn } from "./yearn.ts";

const POSITIONS = "tests/fixtures/positions";
const EXPOSURE = "tests/fixtures/exposure";
const RECORDINGS = {
  "aave-staking": { run: recordAaveStaking, file: `${POSITIONS}/aave-staking.json` },
  "allowance-module": { run: recordAllowanceModule, file: `${EXPOSURE}/allowance-module.json` },
  calibur: { run: recordCalibur, file: `${EXPOSURE}/calibur.json` },
  "compound-v3": { run: recordCompoundV3, file: `${POSITIONS}/compound-v3.json` },
  ethena: { run: recordEthena, file: `${POSITIONS}/ethena.json` },
  "ether-fi": { run: recordEtherFi, file: `${POSITIONS}/ether-fi.json` },
  euler: { run: recordEuler, file: `${POSITIONS}/erc4626/euler.json` },
  fluid: { run: recordFluid, file: `${POSITIONS}/erc4626/fluid.json` },
  lido: { run: recordLido, file: `${POSITIONS}/lido.json` },
  moonwell: { run: recordMoonwell, file: `${POSITIONS}/moonwell.json` },
  "rocket-pool": { run: recordRocketPool, file: `${POSITIONS}/rocket-pool.json` },
  "sky-savings": { run: recordSavings, file: `${POSITIONS}/erc4626/sky.json` },
  "sky-savings-rate": { run: recordSavingsRate, file: `${POSITIONS}/sky.json` },
  slipstream: { run: recordSlipstream, file: `${POSITIONS}/slipstream.json` },
  stata: { run: recordStata, file: `${POSITIONS}/erc4626/stata.json` },
  velodrome: { run: recordVelodrome, file: `${POSITIONS}/velodrome.json` },
  venus: { run: recordVenus, file: `${POSITIONS}/venus.json` },
  yearn: { run: recordYearn, file: `${POSITIONS}/erc4626/yearn.json` },
} as const;

const [name = "", folder = "", source = ""] = process.argv.slice(2);
const recording = RECORDINGS[name as keyof typeof RECORDINGS];
if (recording === undefined || folder === "" || source === "") {
  throw new Error(`Name one of ${Object.keys(RECORDINGS).join(", ")}, a folder and a source.`);
}
const recorder = await startRecorder(folder, source);
await recording.run(recorder, recording.file);
await recorder.chain.stop();
