// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

/// @title Registry of solvers and the bonds they put up.
interface ISolverRegistry {
    /// @notice One registered solver.
    /// @param operator Account that registered the solver and alone may change it.
    /// @param metadataURI Where the solver describes itself.
    /// @param capabilitiesHash Commitment to the capabilities.
    /// @param bond Native amount held here for the solver.
    /// @param fills Kept for readers of the record; never written on chain, indexers count fills.
    /// @param successfulFills As fills.
    /// @param failedFills As fills.
    /// @param active Whether the solver offers its work; its bond is locked while it does.
    struct SolverRecord {
        address operator;
        string metadataURI;
        bytes32 capabilitiesHash;
        uint256 bond;
        uint256 fills;
        uint256 successfulFills;
        uint256 failedFills;
        bool active;
    }

    /// @notice A solver was registered.
    /// @param solverId Identifier of the solver, counted from 1.
    /// @param operator Account that registered it.
    /// @param metadataURI Where the solver describes itself.
    /// @param capabilitiesHash Commitment to the capabilities.
    /// @param bond Native amount put up at registration.
    event SolverRegistered(
        uint256 indexed solverId,
        address indexed operator,
        string metadataURI,
        bytes32 capabilitiesHash,
        uint256 bond
    );

    /// @notice The operator changed the solver.
    /// @param solverId Identifier of the solver.
    /// @param metadataURI New description.
    /// @param capabilitiesHash New commitment to the capabilities.
    /// @param active Whether the solver offers its work.
    event SolverUpdated(uint256 indexed solverId, string metadataURI, bytes32 capabilitiesHash, bool active);

    /// @notice The bond of a solver changed.
    /// @param solverId Identifier of the solver.
    /// @param bond Native amount held after the change.
    event SolverBondChanged(uint256 indexed solverId, uint256 bond);

    /// @notice The caller does not operate the solver.
    error Unauthorized();

    /// @notice No solver has this identifier.
    error SolverNotFound();

    /// @notice The caller already operates a solver.
    error SolverAlreadyRegistered();

    /// @notice The bond is locked because the solver is still active; deactivate it first.
    /// @dev The name is part of the published interface, although it reads as the opposite.
    error SolverInactive();

    /// @notice More was asked for than the bond holds.
    /// @param bond Native amount held.
    /// @param requested Native amount asked for.
    error InsufficientBond(uint256 bond, uint256 requested);

    /// @notice Registers the caller as a solver; the value sent becomes its bond. One solver per operator.
    /// @param metadataURI Where the solver describes itself.
    /// @param capabilitiesHash Commitment to the capabilities.
    /// @return solverId Identifier of the new solver.
    function registerSolver(
        string calldata metadataURI,
        bytes32 capabilitiesHash
    ) external payable returns (uint256 solverId);

    /// @notice Changes a solver; operator only.
    /// @param solverId Identifier of the solver.
    /// @param metadataURI New description.
    /// @param capabilitiesHash New commitment to the capabilities.
    /// @param active Whether the solver offers its work.
    function updateSolver(
        uint256 solverId,
        string calldata metadataURI,
        bytes32 capabilitiesHash,
        bool active
    ) external;

    /// @notice Adds the value sent to the bond; operator only.
    /// @param solverId Identifier of the solver.
    function addBond(uint256 solverId) external payable;

    /// @notice Pays part of the bond back to the operator; operator only, and only while the solver is inactive.
    /// @dev Reverts with the text BOND_WITHDRAW_FAILED when the operator refuses the payment.
    /// @param solverId Identifier of the solver.
    /// @param amount Native amount to pay back.
    function withdrawBond(uint256 solverId, uint256 amount) external;

    /// @notice Reads a solver; reverts with SolverNotFound when there is none.
    /// @param solverId Identifier of the solver.
    /// @return The solver.
    function getSolver(uint256 solverId) external view returns (SolverRecord memory);

    /// @notice Finds the solver an account operates.
    /// @param operator Account to look up.
    /// @return Identifier of its solver, 0 when it has none.
    function getSolverByOperator(address operator) external view returns (uint256);
}
