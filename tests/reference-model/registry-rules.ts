// The model's rules for agents, solvers, attestors, attestations, session keys and settlements.
import { eventArgument, type ModelRules } from "./read-model.ts";

export const registryRules: ModelRules = {
  "AgentRegistry.AgentRegistered": (model, event) => {
    const agent_id = eventArgument(event, "agentId");
    const { pubkey, capabilitiesHash } = event.view;
    const owner = eventArgument(event, "owner");
    const about = {
      metadata_uri: eventArgument(event, "metadataURI"),
      pubkey,
      capabilities_hash: capabilitiesHash,
    };
    model.put("agents", agent_id, { agent_id, owner, ...about, revoked: false }, event);
  },
  "AgentRegistry.AgentUpdated": (model, event) => {
    const metadata_uri = eventArgument(event, "metadataURI");
    model.change("agents", eventArgument(event, "agentId"), {
      metadata_uri,
      capabilities_hash: eventArgument(event, "capabilitiesHash"),
    });
  },
  "AgentRegistry.AgentRevoked": (model, event) => {
    model.change("agents", eventArgument(event, "agentId"), { revoked: true });
  },

  "SolverRegistry.SolverRegistered": (model, event) => {
    const solver_id = eventArgument(event, "solverId");
    model.put(
      "solvers",
      solver_id,
      {
        solver_id,
        operator: eventArgument(event, "operator"),
        metadata_uri: eventArgument(event, "metadataURI"),
        capabilities_hash: eventArgument(event, "capabilitiesHash"),
        bond: eventArgument(event, "bond"),
        active: true,
      },
      event,
    );
  },
  "SolverRegistry.SolverUpdated": (model, event) => {
    model.change("solvers", eventArgument(event, "solverId"), {
      metadata_uri: eventArgument(event, "metadataURI"),
      capabilities_hash: eventArgument(event, "capabilitiesHash"),
      active: eventArgument(event, "active"),
    });
  },
  "SolverRegistry.SolverBondChanged": (model, event) => {
    model.change("solvers", eventArgument(event, "solverId"), { bond: eventArgument(event, "bond") });
  },

  "AttestorRegistry.AttestorRegistered": (model, event) => {
    const attestor_id = eventArgument(event, "attestorId");
    const operator = eventArgument(event, "operator");
    const about = {
      metadata_uri: eventArgument(event, "metadataURI"),
      schemas_hash: eventArgument(event, "schemasHash"),
    };
    model.put("attestors", attestor_id, { attestor_id, operator, ...about, active: true }, event);
  },
  "AttestorRegistry.AttestorUpdated": (model, event) => {
    model.change("attestors", eventArgument(event, "attestorId"), {
      metadata_uri: eventArgument(event, "metadataURI"),
      schemas_hash: eventArgument(event, "schemasHash"),
      active: eventArgument(event, "active"),
    });
  },

  "AttestationRegistry.AttestationSubmitted": (model, event) => {
    const attestation_id = eventArgument(event, "id");
    const attester = eventArgument(event, "attester");
    model.put(
      "attestations",
      attestation_id,
      {
        attestation_id,
        attester,
        schema_hash: eventArgument(event, "schema"),
        subject: eventArgument(event, "subject"),
        data_hash: event.view.dataHash,
        timestamp: event.view.timestamp,
        revoked: false,
      },
      event,
    );
    const start = { attester, attestations: 0n, revoked_attestations: 0n };
    model.count("attester_activity", attester, start, { attestations: 1n });
  },
  "AttestationRegistry.AttestationRevoked": (model, event) => {
    const id = eventArgument(event, "id");
    model.change("attestations", id, { revoked: true });
    const { attester } = model.get("attestations", id);
    model.count("attester_activity", attester, {}, { revoked_attestations: 1n });
  },

  "PolicyAccount.SessionKeyUpdated": (model, event) => {
    const session_key = eventArgument(event, "sessionKey");
    const expires_at = String(eventArgument<number>(event, "expiresAt"));
    const row = { account: event.address, session_key, expires_at, active: eventArgument(event, "active") };
    model.put("session_keys", [event.address, session_key], row, event);
  },
  "PolicyAccount.SessionKeyExecuted": (model, event) => {
    const session_key = eventArgument(event, "sessionKey");
    const nonce = eventArgument(event, "nonce");
    const call = { target: eventArgument(event, "target"), value: eventArgument(event, "value") };
    const row = { account: event.address, session_key, nonce, ...call };
    model.put("session_executions", [event.address, session_key, nonce], row, event);
  },

  "SettlementAdapter.SettlementExecuted": (model, event) => {
    const settlement_id = `${event.transactionHash}-${event.logIndex}`;
    model.put(
      "settlements",
      settlement_id,
      {
        settlement_id,
        quote_hash: eventArgument(event, "quoteHash"),
        settlement_plan_hash: eventArgument(event, "settlementPlanHash"),
        payer: eventArgument(event, "payer"),
        token: eventArgument(event, "token"),
        gross_amount: eventArgument(event, "grossAmount"),
        execution_hash: eventArgument(event, "executionHash"),
      },
      event,
    );
  },
};
