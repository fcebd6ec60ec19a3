// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Registry of attestors: who offers to vouch, and under which schemas.
interface IAttestorRegistry {
    /// @notice One registered attestor.
    /// @param operator Account that registered the attestor and alone may change it.
    /// @param metadataURI Where the attestor describes itself.
    /// @param schemasHash Commitment to the schemas it serves.
    /// @param attestations Kept for readers of the record; never written on chain, indexers count them.
    /// @param revokedAttestations As attestations.
    /// @param active Whether the attestor offers its work.
    struct AttestorRecord {
        address operator;
        string metadataURI;
        bytes32 schemasHash;
        uint256 attestations;
        uint256 revokedAttestations;
        bool active;
    }

    /// @notice An attestor was registered.
    /// @param attestorId Identifier of the attestor, counted from 1.
    /// @param operator Account that registered it.
    /// @param metadataURI Where the attestor describes itself.
    /// @param schemasHash Commitment to the schemas it serves.
    event AttestorRegistered(
        uint256 indexed attestorId,
        address indexed operator,
        string metadataURI,
        bytes32 schemasHash
    );

    /// @notice The operator changed the attestor.
    /// @param attestorId Identifier of the attestor.
    /// @param metadataURI New description.
    /// @param schemasHash New commitment to the schemas.
    /// @param active Whether the attestor offers its work.
    event AttestorUpdated(uint256 indexed attestorId, string metadataURI, bytes32 schemasHash, bool active);

    /// @notice The caller does not operate the attestor.
    error Unauthorized();

    /// @notice No attestor has this identifier.
    error AttestorNotFound();

    /// @notice The caller already operates an attestor.
    error AttestorAlreadyRegistered();

    /// @notice Registers the caller as an attestor. One attestor per operator.
    /// @param metadataURI Where the attestor describes itself.
    /// @param schemasHash Commitment to the schemas it serves.
    /// @return attestorId Identifier of the new attestor.
    function registerAttestor(string calldata metadataURI, bytes32 schemasHash) external returns (uint256 attestorId);

    /// @notice Changes an attestor; operator only.
    /// @param attestorId Identifier of the attestor.
    /// @param metadataURI New description.
    /// @param schemasHash New commitment to the schemas.
    /// @param active Whether the attestor offers its work.
    function updateAttestor(
        uint256 attestorId,
        string calldata metadataURI,
        bytes32 schemasHash,
        bool active
    ) external;

    /// @notice Reads an attestor; reverts with AttestorNotFound when there is none.
    /// @param attestorId Identifier of the attestor.
    /// @return The attestor.
    function getAttestor(uint256 attestorId) external view returns (AttestorRecord memory);

    /// @notice Finds the attestor an account operates.
    /// @param operator Account to look up.
    /// @return Identifier of its attestor, 0 when it has none.
    function getAttestorByOperator(address operator) external view returns (uint256);
}
