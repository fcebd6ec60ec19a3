// Every page of the explorer, in the order of the navigation. A page in this table is served, linked and tested.
import type { Page } from "./page.ts";
import { homePage } from "./pages/home.ts";
import { intentPage } from "./pages/intent.ts";
import { intentsPage } from "./pages/intents.ts";
import { searchPage } from "./pages/search.ts";

export const pages: readonly Page[] = [homePage, intentsPage, intentPage, searchPage];
