// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ISolverRegistry} from "./interfaces/ISolverRegistry.sol";

/// @title Registry of solvers and the bonds they put up.
/// @dev The balance of this contract is at least the sum of all bonds: every path that lowers a bond pays out
/// exactly that amount, after the bond was lowered.
contract SolverRegistry is ISolverRegistry {
    uint256 private _lastSolverId;
    mapping(uint256 solverId => SolverRecord) private _solvers;
    mapping(address operator => uint256 solverId) private _solverIdOf;

    /// @inheritdoc ISolverRegistry
    function registerSolver(
        string calldata metadataURI,
        bytes32 capabilitiesHash
    ) external payable returns (uint256 solverId) {
        if (_solverIdOf[msg.sender] != 0) revert SolverAlreadyRegistered();
        solverId = ++_lastSolverId;
        _solverIdOf[msg.sender] = solverId;
        SolverRecord storage solver = _solvers[solverId];
        solver.operator = msg.sender;
        solver.metadataURI = metadataURI;
        solver.capabilitiesHash = capabilitiesHash;
        solver.bond = msg.value;
        solver.active = true;
        emit SolverRegistered(solverId, msg.sender, metadataURI, capabilitiesHash, msg.value);
    }

    /// @inheritdoc ISolverRegistry
    function updateSolver(
        uint256 solverId,
        string calldata metadataURI,
        bytes32 capabilitiesHash,
        bool active
    ) external {
        SolverRecord storage solver = _operated(solverId);
        solver.metadataURI = metadataURI;
        solver.capabilitiesHash = capabilitiesHash;
        solver.active = active;
        emit SolverUpdated(solverId, metadataURI, capabilitiesHash, active);
    }

    /// @inheritdoc ISolverRegistry
    function addBond(uint256 solverId) external payable {
        SolverRecord storage solver = _operated(solverId);
        uint256 bond = solver.bond + msg.value;
        solver.bond = bond;
        emit SolverBondChanged(solverId, bond);
    }

    /// @inheritdoc ISolverRegistry
    function withdrawBond(uint256 solverId, uint256 amount) external {
        SolverRecord storage solver = _operated(solverId);
        if (solver.active) revert SolverInactive();
        uint256 bond = solver.bond;
        if (amount > bond) revert InsufficientBond(bond, amount);
        bond -= amount;
        solver.bond = bond;
        emit SolverBondChanged(solverId, bond);
        (bool paid, ) = msg.sender.call{value: amount}("");
        require(paid, "BOND_WITHDRAW_FAILED");
    }

    /// @inheritdoc ISolverRegistry
    function getSolver(uint256 solverId) external view returns (SolverRecord memory) {
        return _existing(solverId);
    }

    /// @inheritdoc ISolverRegistry
    function getSolverByOperator(address operator) external view returns (uint256) {
        return _solverIdOf[operator];
    }

    function _existing(uint256 solverId) private view returns (SolverRecord storage solver) {
        solver = _solvers[solverId];
        if (solver.operator == address(0)) revert SolverNotFound();
    }

    function _operated(uint256 solverId) private view returns (SolverRecord storage solver) {
        solver = _existing(solverId);
        if (solver.operator != msg.sender) revert Unauthorized();
    }
}
