// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IAgentRegistry} from "./interfaces/IAgentRegistry.sol";

/// @title Registry of agents: who may act, under which key, with which capabilities.
contract AgentRegistry is IAgentRegistry {
    uint256 private _lastAgentId;
    mapping(uint256 agentId => AgentRecord) private _agents;
    mapping(address owner => uint256[]) private _agentsByOwner;

    /// @inheritdoc IAgentRegistry
    function registerAgent(
        string calldata metadataURI,
        bytes calldata pubkey,
        bytes32 capabilitiesHash
    ) external returns (uint256 agentId) {
        agentId = ++_lastAgentId;
        _agents[agentId] = AgentRecord({
            owner: msg.sender,
            metadataURI: metadataURI,
            pubkey: pubkey,
            capabilitiesHash: capabilitiesHash,
            revoked: false
        });
        _agentsByOwner[msg.sender].push(agentId);
        emit AgentRegistered(agentId, msg.sender, metadataURI);
    }

    /// @inheritdoc IAgentRegistry
    function updateAgent(uint256 agentId, string calldata metadataURI, bytes32 capabilitiesHash) external {
        AgentRecord storage agent = _changeable(agentId);
        agent.metadataURI = metadataURI;
        agent.capabilitiesHash = capabilitiesHash;
        emit AgentUpdated(agentId, metadataURI, capabilitiesHash);
    }

    /// @inheritdoc IAgentRegistry
    function revokeAgent(uint256 agentId) external {
        _changeable(agentId).revoked = true;
        emit AgentRevoked(agentId);
    }

    /// @inheritdoc IAgentRegistry
    function getAgent(uint256 agentId) external view returns (AgentRecord memory) {
        return _existing(agentId);
    }

    /// @inheritdoc IAgentRegistry
    function getAgentsByOwner(address owner) external view returns (uint256[] memory) {
        return _agentsByOwner[owner];
    }

    function _existing(uint256 agentId) private view returns (AgentRecord storage agent) {
        agent = _agents[agentId];
        if (agent.owner == address(0)) revert AgentNotFound();
    }

    function _changeable(uint256 agentId) private view returns (AgentRecord storage agent) {
        agent = _existing(agentId);
        if (agent.owner != msg.sender) revert Unauthorized();
        if (agent.revoked) revert AgentAlreadyRevoked();
    }
}
