// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";

/// @title Token that moves other amounts than it is told to, answers strangely, or calls who receives it.
contract CrookedToken is ERC20 {
    enum Habit {
        HONEST,
        KEEPS_FEE,
        OVERCHARGES,
        OVERPAYS,
        MOVES_NOTHING,
        ANSWERS_FALSE,
        ANSWERS_NOTHING,
        CALLS_RECIPIENT
    }

    address private constant COLLECTOR = address(0xfee);

    Habit private _habit;

    constructor() ERC20("Crooked", "CROOK") {}

    /// @notice Chooses how transfers behave from now on.
    function setHabit(Habit habit) external {
        _habit = habit;
    }

    /// @notice Creates tokens.
    function mint(address to, uint256 amount) external {
        _mint(to, amount);
    }

    /// @inheritdoc ERC20
    function transferFrom(address from, address to, uint256 value) public override returns (bool) {
        if (_habit == Habit.ANSWERS_FALSE) return false;
        super.transferFrom(from, to, value);
        if (_habit == Habit.ANSWERS_NOTHING) {
            assembly ("memory-safe") {
                return(0, 0)
            }
        }
        return true;
    }

    function _update(address from, address to, uint256 value) internal override {
        bool created = from == address(0);
        if (!created && _habit == Habit.MOVES_NOTHING) return;
        super._update(from, to, value);
        if (created) return;
        if (_habit == Habit.KEEPS_FEE) super._update(to, COLLECTOR, 1);
        if (_habit == Habit.OVERCHARGES) super._update(from, COLLECTOR, 1);
        if (_habit == Habit.OVERPAYS) super._update(address(0), to, 1);
        if (_habit == Habit.CALLS_RECIPIENT) {
            (bool ok, ) = to.call("");
            require(ok, "recipient refused");
        }
    }
}
