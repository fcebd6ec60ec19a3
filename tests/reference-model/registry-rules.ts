// The model's rules for agents, solvers, attestors, attestations, session keys and settlements.
import { arg, type Rules } from "./read-model.ts";

export const registryRules: Rules = {
  "AgentRegistry.AgentRegistered": (model, event) => {
    const agent_id = arg(event, "agentId");
    const { pubkey, capabilitiesHash } = event.view;
    const owner = arg(event, "owner");
    const about = { metadata_uri: arg(event, "metadataURI"), pubkey, capabilities_hash: capabilitiesHash };
    model.put("agents", agent_id, { agent_id, owner, ...about, revoked: false }, event);
  },
  "AgentRegistry.AgentUpdated": (model, event) => {
    const metadata_uri = arg(event, "metadataURI");
    model.change("agents", arg(event, "agentId"), {
      metadata_uri,
      capabilities_hash: arg(event, "capabilitiesHash"),
    });
  },
  "AgentRegistry.AgentRevoked": (model, event) => {
    model.change("agents", arg(event, "agentId"), { revoked: true });
  },

  "SolverRegistry.SolverRegistered": (model, event) => {
    const solver_id = arg(event, "solverId");
    model.put(
      "solvers",
      solver_id,
      {
        solver_id,
        operator: arg(event, "operator"),
        metadata_uri: arg(event, "metadataURI"),
        capabilities_hash: arg(event, "capabilitiesHash"),
        bond: arg(event, "bond"),
        active: true,
      },
      event,
    );
  },
  "SolverRegistry.SolverUpdated": (model, event) => {
    model.change("solvers", arg(event, "solverId"), {
      metadata_uri: arg(event, "metadataURI"),
      capabilities_hash: arg(event, "capabilitiesHash"),
      active: arg(event, "active"),
    });
  },
  "SolverRegistry.SolverBondChanged": (model, event) => {
    model.change("solvers", arg(event, "solverId"), { bond: arg(event, "bond") });
  },

  "AttestorRegistry.AttestorRegistered": (model, event) => {
    const attestor_id = arg(event, "attestorId");
    const operator = arg(event, "operator");
    const about = { metadata_uri: arg(event, "metadataURI"), schemas_hash: arg(event, "schemasHash") };
    model.put("attestors", attestor_id, { attestor_id, operator, ...about, active: true }, event);
  },
  "AttestorRegistry.AttestorUpdated": (model, event) => {
    model.change("attestors", arg(event, "attestorId"), {
      metadata_uri: arg(event, "metadataURI"),
      schemas_hash: arg(event, "schemasHash"),
      active: arg(event, "active"),
    });
  },

  "AttestationRegistry.AttestationSubmitted": (model, event) => {
    const attestation_id = arg(event, "id");
    const attester = arg(event, "attester");
    model.put(
      "attestations",
      attestation_id,
      {
        attestation_id,
        attester,
        schema_hash: arg(event, "schema"),
        subject: arg(event, "subject"),
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
    const id = arg(event, "id");
    model.change("attestations", id, { revoked: true });
    const { attester } = model.get("attestations", id);
    model.count("attester_activity", attester, {}, { revoked_attestations: 1n });
  },

  "PolicyAccount.SessionKeyUpdated": (model, event) => {
    const session_key = arg(event, "sessionKey");
    const expires_at = String(arg<number>(event, "expiresAt"));
    const row = { account: event.address, session_key, expires_at, active: arg(event, "active") };
    model.put("session_keys", [event.address, session_key], row, event);
  },
  "PolicyAccount.SessionKeyExecuted": (model, event) => {
    const session_key = arg(event, "sessionKey");
    const nonce = arg(event, "nonce");
    const call = { target: arg(event, "target"), value: arg(event, "value") };
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
        quote_hash: arg(event, "quoteHash"),
        settlement_plan_hash: arg(event, "settlementPlanHash"),
        payer: arg(event, "payer"),
        token: arg(event, "token"),
        gross_amount: arg(event, "grossAmount"),
        execution_hash: arg(event, "executionHash"),
      },
      event,
    );
  },
};
