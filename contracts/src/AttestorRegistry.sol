// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {IAttestorRegistry} from "./interfaces/IAttestorRegistry.sol";

/// @title Registry of attestors: who offers to vouch, and under which schemas.
contract AttestorRegistry is IAttestorRegistry {
    uint256 private _lastAttestorId;
    mapping(uint256 attestorId => AttestorRecord) private _attestors;
    mapping(address operator => uint256 attestorId) private _attestorIdOf;

    /// @inheritdoc IAttestorRegistry
    function registerAttestor(string calldata metadataURI, bytes32 schemasHash) external returns (uint256 attestorId) {
        if (_attestorIdOf[msg.sender] != 0) revert AttestorAlreadyRegistered();
        attestorId = ++_lastAttestorId;
        _attestorIdOf[msg.sender] = attestorId;
        AttestorRecord storage attestor = _attestors[attestorId];
        attestor.operator = msg.sender;
        attestor.metadataURI = metadataURI;
        attestor.schemasHash = schemasHash;
        attestor.active = true;
        emit AttestorRegistered(attestorId, msg.sender, metadataURI, schemasHash);
    }

    /// @inheritdoc IAttestorRegistry
    function updateAttestor(
        uint256 attestorId,
        string calldata metadataURI,
        bytes32 schemasHash,
        bool active
    ) external {
        AttestorRecord storage attestor = _existing(attestorId);
        if (attestor.operator != msg.sender) revert Unauthorized();
        attestor.metadataURI = metadataURI;
        attestor.schemasHash = schemasHash;
        attestor.active = active;
        emit AttestorUpdated(attestorId, metadataURI, schemasHash, active);
    }

    /// @inheritdoc IAttestorRegistry
    function getAttestor(uint256 attestorId) external view returns (AttestorRecord memory) {
        return _existing(attestorId);
    }

    /// @inheritdoc IAttestorRegistry
    function getAttestorByOperator(address operator) external view returns (uint256) {
        return _attestorIdOf[operator];
    }

    function _existing(uint256 attestorId) private view returns (AttestorRecord storage attestor) {
        attestor = _attestors[attestorId];
        if (attestor.operator == address(0)) revert AttestorNotFound();
    }
}
