// Aave v2 Ethereum AMM, written by scripts/aave-reserves.ts from @aave-dao/aave-address-book 4.68.1.
import type { AaveMarket } from "../../aave-v3/market.ts";

export const aaveV2EthereumAmm: AaveMarket = {
  name: "Aave v2 Ethereum AMM",
  pool: "0x7937d4799803fbbe595ed57278bc4ca21f3bffcb",
  oracle: "0xa50ba011c48153de246e5192c8f9258a2ba79ca9",
  quote: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2",
  // biome-ignore format: one reserve a line keeps the largest market a page long
  reserves: [
    { underlying: "0xc02aaa39b223fe8d0a0e5c4f27ead9083c756cc2", aToken: "0xf9fb4ad91812b704ba883b11d2b576e890a6730a", debtToken: "0xa4c273d9a0c1fe2674f0e845160d6232768a3064" }, // WETH
    { underlying: "0x6b175474e89094c44da98b954eedeac495271d0f", aToken: "0x79be75ffc64dd58e66787e4eae470c8a1fd08ba4", debtToken: "0x3f4fa4937e72991367dc32687bc3278f095e7eaa" }, // DAI
    { underlying: "0xa0b86991c6218b36c1d19d4a2e9eb0ce3606eb48", aToken: "0xd24946147829deaa935be2ad85a3291dbf109c80", debtToken: "0xcfdc74b97b69319683fec2a4ef95c4ab739f1b12" }, // USDC
    { underlying: "0xdac17f958d2ee523a2206206994597c13d831ec7", aToken: "0x17a79792fe6fe5c95dfe95fe3fcee3caf4fe4cb7", debtToken: "0xdcfe9bfc246b02da384de757464a35efca402797" }, // USDT
    { underlying: "0x2260fac5e5542a773aa44fbcfedf7c193bc2c599", aToken: "0x13b2f6928d7204328b0e8e4bcd0379aa06ea21fa", debtToken: "0x3b99fdafdfe70d65101a4ba8cdc35dafbd26375f" }, // WBTC
    { underlying: "0xa478c2975ab1ea89e8196811f51a7b7ade33eb11", aToken: "0x9303eabc860a743aabcc3a1629014cabcc3f8d36", debtToken: "0x23bcc861b989762275165d08b127911f09c71628" }, // UNI_DAI_WETH
    { underlying: "0xbb2b8038a1640196fbe3e38816f3e67cba72d940", aToken: "0xc58f53a8adff2fb4eb16ed56635772075e2ee123", debtToken: "0x02aaeb4c7736177242ee0f71f6f6a0f057aba87d" }, // UNI_WBTC_WETH
    { underlying: "0xdfc14d2af169b0d36c4eff567ada9b2e0cae044f", aToken: "0xe59d2ff6995a926a574390824a657eed36801e55", debtToken: "0x859ed7d9e92d1fe42ff95c3bc3a62f7cb59c373e" }, // UNI_AAVE_WETH
    { underlying: "0xb6909b960dbbe7392d405429eb2b3649752b4838", aToken: "0xa1b0edf4460cc4d8bfaa18ed871bff15e5b57eb4", debtToken: "0x3fbef89a21dc836275bc912849627b33c61b09b4" }, // UNI_BAT_WETH
    { underlying: "0xae461ca67b15dc8dc81ce7615e0320da1a9ab8d5", aToken: "0xe340b25fe32b1011616bb8ec495a4d503e322177", debtToken: "0x925e3fdd927e20e33c3177c4ff6fb72ad1133c87" }, // UNI_DAI_USDC
    { underlying: "0x3da1313ae46132a397d90d95b1424a9a7e3e0fce", aToken: "0x0ea20e7ffb006d4cfe84df2f72d8c7bd89247db0", debtToken: "0xf3f1a76ca6356a908cdcde6b2ac2eaace3739cd0" }, // UNI_CRV_WETH
    { underlying: "0xa2107fa5b38d9bbd2c461d6edf11b11a50f6b974", aToken: "0xb8db81b84d30e2387de0ff330420a4aaa6688134", debtToken: "0xede4052ed8e1f422f4e5062c679f6b18693fecdc" }, // UNI_LINK_WETH
    { underlying: "0xc2adda861f89bbb333c90c492cb837741916a225", aToken: "0x370adc71f67f581158dc56f539df5f399128ddf9", debtToken: "0xf36c394775285f89bbbdf09533421e3e81e8447c" }, // UNI_MKR_WETH
    { underlying: "0x8bd1661da98ebdd3bd080f0be4e6d9be8ce9858c", aToken: "0xa9e201a4e269d6cd5e9f0fcbcb78520cf815878b", debtToken: "0x2a8d5b1c1de15bfcd5ec41368c0295c60d8da83c" }, // UNI_REN_WETH
    { underlying: "0x43ae24960e5534731fc831386c07755a2dc33d47", aToken: "0x38e491a71291cd43e8de63b7253e482622184894", debtToken: "0xfd15008efa339a2390b48d2e0ca8abd523b406d3" }, // UNI_SNX_WETH
    { underlying: "0xd3d2e2692501a5c9ca623199d38826e513033a17", aToken: "0x3d26dcd840fcc8e4b2193ace8a092e4a65832f9f", debtToken: "0x0d878fbb01fbeea7ddefb896d56f1d3167af919f" }, // UNI_UNI_WETH
    { underlying: "0xb4e16d0168e52d35cacd2c6185b44281ec28c9dc", aToken: "0x391e86e2c002c70dee155eaceb88f7a3c38f5976", debtToken: "0x26625d1ddf520fc8d975cc68ec6e0391d9d3df61" }, // UNI_USDC_WETH
    { underlying: "0x004375dff511095cc5a197a54140a24efef3a416", aToken: "0x2365a4890ed8965e564b7e2d27c38ba67fec4c6f", debtToken: "0x36da0c5dc23397cbf9d13bbd74e93c04f99633af" }, // UNI_WBTC_USDC
    { underlying: "0x2fdbadf3c4d5a8666bc06645b8358ab803996e28", aToken: "0x5394794be8b6ed5572fcd6b27103f46b5f390e8f", debtToken: "0xdf70bdf01a3ebcd0d918ff97390852a914a92df7" }, // UNI_YFI_WETH
    { underlying: "0x1eff8af5d577060ba4ac8a29a13525bb0ee2a3d5", aToken: "0x358bd0d980e031e23eba9aa793926857703783bd", debtToken: "0xf655df3832859cfb0acfd88edff3452b9aa6db24" }, // BPT_WBTC_WETH
    { underlying: "0x59a19d8c652fa0284f44113d0ff9aba70bd46fb4", aToken: "0xd109b2a304587569c84308c55465cd9ff0317bfb", debtToken: "0xf41a5cc7a61519b08056176d7b4b87ab34df55ad" }, // BPT_BAL_WETH
    { underlying: "0x50379f632ca68d36e50cfbc8f78fe16bd1499d1e", aToken: "0xd145c6ae8931ed5bca9b5f5b7da5991f5ab63b5c", debtToken: "0x40533cc601ec5b79b00d76348adc0c81d93d926d" }, // GUNI_DAI_USDC
    { underlying: "0xd2eec91055f07fe24c9ccb25828ecfefd4be0c41", aToken: "0xca5dfdabbffd58cfd49a9f78ca52ec8e0591a3c5", debtToken: "0x0b7c7d9c5548a23d0455d1edec541cc2ad955a9d" }, // GUNI_USDC_USDT
  ],
};
