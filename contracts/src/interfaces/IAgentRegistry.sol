// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Registry of agents: who may act, under which key, with which capabilities.
interface IAgentRegistry {
    /// @notice One registered agent.
    /// @param owner Account that registered the agent and alone may change it.
    /// @param metadataURI Where the agent describes itself.
    /// @param pubkey Public key the agent signs off-chain messages with; its format is the agent's choice.
    /// @param capabilitiesHash Commitment to the list of capabilities.
    /// @param revoked True once the owner has withdrawn the agent, for ever.
    struct AgentRecord {
        address owner;
        string metadataURI;
        bytes pubkey;
        bytes32 capabilitiesHash;
        bool revoked;
    }

    /// @notice An agent was registered.
    /// @param agentId Identifier of the agent, counted from 1.
    /// @param owner Account that registered it.
    /// @param metadataURI Where the agent describes itself.
    event AgentRegistered(uint256 indexed agentId, address indexed owner, string metadataURI);

    /// @notice The owner changed the agent's description.
    /// @param agentId Identifier of the agent.
    /// @param metadataURI New description.
    /// @param capabilitiesHash New commitment to the capabilities.
    event AgentUpdated(uint256 indexed agentId, string metadataURI, bytes32 capabilitiesHash);

    /// @notice The owner withdrew the agent.
    /// @param agentId Identifier of the agent.
    event AgentRevoked(uint256 indexed agentId);

    /// @notice The caller does not own the agent.
    error Unauthorized();

    /// @notice No agent has this identifier.
    error AgentNotFound();

    /// @notice The agent was revoked and can not change any more.
    error AgentAlreadyRevoked();

    /// @notice Registers an agent owned by the caller.
    /// @param metadataURI Where the agent describes itself.
    /// @param pubkey Public key of the agent.
    /// @param capabilitiesHash Commitment to the capabilities.
    /// @return agentId Identifier of the new agent.
    function registerAgent(
        string calldata metadataURI,
        bytes calldata pubkey,
        bytes32 capabilitiesHash
    ) external returns (uint256 agentId);

    /// @notice Changes the description of an agent; owner only, not after revocation.
    /// @param agentId Identifier of the agent.
    /// @param metadataURI New description.
    /// @param capabilitiesHash New commitment to the capabilities.
    function updateAgent(uint256 agentId, string calldata metadataURI, bytes32 capabilitiesHash) external;

    /// @notice Withdraws an agent for ever; owner only.
    /// @param agentId Identifier of the agent.
    function revokeAgent(uint256 agentId) external;

    /// @notice Reads an agent; reverts with AgentNotFound when there is none.
    /// @param agentId Identifier of the agent.
    /// @return The agent.
    function getAgent(uint256 agentId) external view returns (AgentRecord memory);

    /// @notice Lists the agents an account registered, revoked ones included, oldest first.
    /// @param owner Account that registered them.
    /// @return Their identifiers.
    function getAgentsByOwner(address owner) external view returns (uint256[] memory);
}
