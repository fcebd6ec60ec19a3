// SPDX-License-Identifier: MIT
pragma solidity ^0.8.24;

import {ERC20} from "@openzeppelin/contracts/token/ERC20/ERC20.sol";
import {IERC20} from "@openzeppelin/contracts/token/ERC20/IERC20.sol";
import {ERC4626} from "@openzeppelin/contracts/token/ERC20/extensions/ERC4626.sol";

/// @title Vault over one token, for local chains; tokens sent to it without a deposit are its yield.
contract Vault4626 is ERC4626 {
    /// @param asset_ Token the vault holds.
    /// @param name_ Name of the share.
    /// @param symbol_ Symbol of the share.
    constructor(IERC20 asset_, string memory name_, string memory symbol_) ERC20(name_, symbol_) ERC4626(asset_) {}
}
