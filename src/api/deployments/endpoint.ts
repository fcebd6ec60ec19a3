// GET /deployments: the deployments of this server, with the position of each index.

import { mountPath } from "../../http/mounts.ts";
import type { Endpoint } from "../../schema/endpoint.ts";
import { closedObject, type JsonSchema, listOf, nullable, titledRecord } from "../../schema/json-schema.ts";
import type { DeploymentState, DeploymentStates, ServedDeployment } from "./state.ts";

const text: JsonSchema = { type: "string" };
const uint: JsonSchema = { type: "string", pattern: "^[0-9]+$" };

const DEPLOYMENT = titledRecord("Deployment", {
  name: text,
  path: {
    ...text,
    description: "The path of this deployment's whole API, to append to the URL of the server.",
  },
  is_default: { type: "boolean", description: "Whether it is at the root of the server as well." },
  chain_id: uint,
  fingerprint: {
    ...nullable(text),
    description:
      "Fingerprint of chain, start block and contracts, as in cursors of events; null before anything is indexed.",
  },
  indexed: nullable(closedObject({ block_number: uint, block_hash: text, block_timestamp: uint })),
  finalized_block: nullable(uint),
  chain_block: { ...nullable(uint), description: "The newest block that a node has shown to the indexer." },
  lag: {
    ...closedObject({ blocks: nullable(uint), seconds: nullable(uint) }),
    description: "Null while no indexer reports: the chain may be anywhere by then.",
  },
  phase: nullable(text),
  ready: { type: "boolean" },
  reason: { ...nullable(text), description: "Why it is not ready." },
});

const RESPONSE = titledRecord("Deployments", { deployments: listOf(DEPLOYMENT) });

export function createDeploymentsEndpoint(states: DeploymentStates): Endpoint {
  return {
    method: "GET",
    path: "/deployments",
    operationId: "getDeployments",
    summary: "The deployments that this server serves",
    description:
      "Each deployment of the protocol with its chain, the path of its API, and how far its index is. The default one is first. Never cached.",
    tag: "Index",
    parameters: [],
    body: null,
    responses: { 200: RESPONSE },
    // For a query that is not percent-encoded text.
    errorStatuses: [400],
    handle: async () => {
      const read = await states.read();
      const deployments = states.served.map((each, index) => describe(each, read[index] as DeploymentState));
      return { status: 200, body: { deployments }, headers: { "cache-control": "no-store" } };
    },
  };
}

function describe(
  { name, base, chainId }: ServedDeployment,
  { fingerprint, checkpoint, phase, chainBlock, lag, readiness }: DeploymentState,
): Readonly<Record<string, unknown>> {
  const decimal = (value: number | undefined | null) =>
    value === undefined || value === null ? null : String(value);
  return {
    name,
    path: mountPath(name),
    is_default: base === "",
    chain_id: String(chainId),
    fingerprint,
    indexed: checkpoint && {
      block_number: String(checkpoint.block.number),
      block_hash: checkpoint.block.hash,
      block_timestamp: String(checkpoint.block.timestamp),
    },
    finalized_block: decimal(checkpoint?.finalized),
    chain_block: decimal(chainBlock),
    lag: { blocks: decimal(lag?.blocks), seconds: decimal(lag?.seconds) },
    phase,
    ready: readiness.ready,
    reason: readiness.ready ? null : readiness.reason,
  };
}
