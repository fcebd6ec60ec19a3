// Letters and digits of other alphabets that look like an ASCII one, from the confusables of Unicode 17 (UTS 39).

// Data of Unicode, under the Unicode License v3: what NFKD does not already turn into ASCII, without scripts that run from
// right to left, in which a word does not read like a symbol. Small capitals are added. An ASCII letter or digit, then all
// that look like it, in capitals or not.
const ROWS = [
  "2 ƧƻϨᒿꙄꛯꝚ",
  "3 ƷȜЗҘӠ३૩ⲜⳄⳌꝪꞫ𑣊𖼻𝈆",
  "4 Ꮞ𑢯",
  "5 Ƽ𑢻",
  "6 ϬбᏮⳒⳓⳜ𑣕",
  "7 𐓒𑣆𝈒",
  "8 Ȣȣ৪੪𐌚",
  "9 ৭੧୨൭ⳊⳋꝮ𑢬𑣌𑣖",
  "a ɑΑαАаᎪᗅᴀ⍶⍺ꓮꭺ𐊠𖽀",
  "b ƀƂƃƄɓʙΒБВЬвѢѣҌҍᏏᏴᏼᑲᑳᖯᗷⲂⲃꓐꞴ𐊂𐊡𐌁𖺶",
  "c ¢ȼСсҪҫငၚᏟᴄ₡Ⲥⲥꓚꮯ𐊢𐌂𐐕𐐽𐔜𑣩𑣲🅮🝌",
  "d ÐĐđƉƌɖɗԁᎠᏧᑯᗞᗪᴅ₫ꓒꓓꭰ",
  "e ɆɇΕЕеҽҿᎬᴇ℮⋿ⴹꓰꬲꭼ𐊆𑢦𑢮",
  "f ƑƒϜքᖴᵮẝꓝꜰꞘꞙꬵ𐊇𐊥𐔥𑢢𑣂𝈓",
  "g ƍǤǥɠɡɢԌԍցᏀᏳᏻᶃꓖꮐ",
  "h ĦħɦʜΗНнћҢңһӇӈӉӊհᎻᏂᏲᕼⱧⲎⲏꓧꚕꮋ𐋏",
  "i ıɨɩɪιіւᎥᵻᵼ⍳⍸ⲓꙇꭵ𑣃",
  "j ɈɉͿϳЈјᎫᒍᴊꓙꞲꭻ",
  "k ĸƙΚκКкҚқҞҟᏦᛕᴋ₭ⱩⲔⲕꓗꝀꮶ𐔘",
  "l ŁłƖƗƚǀɫɭʟΙІӀӏᏞᒪᛁ∣⏽ⲒⳐⳑⵏꓡꓲꮮ𐊊𐌉𐌠𐐛𐑃𐔦𑢣𑢲𑷚𑷡𖺪𖼖𖼨𝈪",
  "m ΜϺМӍᎷᗰᛖⲘꓟ𐊰𐌑",
  "n ŋƝƞɳɴΝηղոռᵰⲚⲛꓠ𐆎𐔓",
  "o ØøƟɵΘΟθοσϭОоѲѳӨөՕօ०০੦૦ଠ୦௦౦೦ഠ൦๐໐တဝ၀თჿዐᎾᏫ០ᴏᴑ⊖⊝⍬ⲐⲑⲞⲟⴱⵁⵔ〇ꓳꝊꝋꬽꬾꭴꮎꮻ𐊒𐊫𐐄𐐬𐓂𐓪𐔖𑓐𑢵𑣈𑣗𑣠𑷠𝈚🜔",
  "p þƥƿΡρϸРрᏢᑭᴘᴩᵽ⍴ⲢⲣⳎⳏꓑꮲ𐊕",
  "q ʠԛգզⵕꞯ",
  "r ƦɍɼɽʀгғᎡᏒᖇᴦᵲⲅꓣꭇꭈꭱꮁꮢ𐒴𖼵𝈖",
  "s ƽʂЅѕՏടᏕᏚᵴꓢꜱꮪ𐊖𐐠𐑈𑣁𖼺",
  "t ŦŧƭƮȾΤτТтҬҭᎢᴛᵵ₮⊤⍡⟙Ⲧⲧꓔꭲ𐊗𐊱𐌕𑢼𖼊🝨",
  "u ɄʋυџՍսሀᏌᑌᴜᵾ∪⋃ꓴꞟꭎꭒꮜ𐓎𐓶𑢸𑣘𖽂",
  "v νѴѵᏙᐯᴠ∨⋁ⴸꓦꛟꮩ𐆗𐔝𑜆𑢠𑣀𖼈𝈍🜈",
  "w ɯшѡѽԜԝաᎳᏔᴡ₩ⲽꓪꝡꮃ𑓅𑜊𑜎𑜏𑣦𑣯",
  "x ×ΧХхҲᕁᕽ᙭᙮ᚷ╳⤫⤬⨯⨰ⲬⵝꓫꞳ𐆖𐊐𐊴𐌗𐌢𐔧𑣬",
  "y ¥ƴɎɏɣʏΥγУуҮүҰұყᎩᎽᶌỿⲨⲩꓬꭚ𐊲𑢤𑣜𖽃",
  "z ƵƶȤȥʐΖᏃᴢᵶꓜꮓ𐋵𑢩𑣄𑣥",
  // Our own: signs and small Greek letters that stand for letters in symbols.
  "b β",
  "c ¢",
  "e €ε",
  "l £",
  "m мμ",
  "s $",
  "t ₮",
  "x χ",
  "z ζ",
];

const LOOKALIKES: ReadonlyMap<string, string> = new Map(
  ROWS.flatMap((row) => Array.from(row.slice(2), (letter) => [letter, row.slice(0, 1)] as const)),
);

// Letters in circles, in squares and of flags, filled: 26 in a row each, which NFKD leaves alone.
const FRAMED_STARTS = [0x1f150, 0x1f170, 0x1f1e6];
const LETTERS = 26;

function findFramed(codePoint: number): string | undefined {
  const start = FRAMED_STARTS.find((first) => codePoint >= first && codePoint < first + LETTERS);
  return start === undefined ? undefined : String.fromCharCode("a".charCodeAt(0) + codePoint - start);
}

/** Text in NFKD as the eye reads it, in lower-case. */
export function replaceLookalikes(text: string): string {
  return Array.from(text, (letter) => {
    const lower = letter.toLowerCase();
    return LOOKALIKES.get(letter) ?? LOOKALIKES.get(lower) ?? findFramed(letter.codePointAt(0) ?? 0) ?? lower;
  }).join("");
}
