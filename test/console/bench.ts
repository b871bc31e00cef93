import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { OrchServer } from '../../src/server/index.ts';
import { offencesOf, openConsole, signIn } from '../support/browser.ts';

/** What the scenarios of a group share: one server and one browser. */
export interface ConsoleBench {
  readonly server: OrchServer;
  /** Runs a scenario in a page of its own, at an address of the console, signed in as an administrator. */
  readonly inPage: (address: string, scenario: (page: Page) => Promise<void>) => Promise<void>;
}

/** Runs scenarios next to each other: each has its own page. */
export function benchOf(
  parts: () => { readonly server: OrchServer; readonly browser: Browser; readonly url: string; readonly token: string },
): ConsoleBench {
  return {
    get server() {
      return parts().server;
    },
    inPage: async (address, scenario) => {
      const { browser, url, token } = parts();
      const page = await openConsole(browser, url, address);
      try {
        await signIn(page, token);
        await scenario(page);
        expect(offencesOf(page)).toEqual({ requests: [], violations: [], errors: [] });
      } finally {
        await page.context().close();
      }
    },
  };
}
