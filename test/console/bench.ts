import type { Browser, Page } from 'playwright-core';
import { expect } from 'vitest';
import type { OrchServer } from '../../src/server/index.ts';
import { offencesOf, openConsole, signIn } from '../support/browser.ts';

/** The server and the browser that the scenarios of a group share. */
export interface ConsoleBench {
  readonly server: OrchServer;
  /** The token of an administrator. */
  readonly token: string;
  /** Runs a scenario in a page of its own, at an address of the console, signed in as an administrator. */
  readonly inPage: (address: string, scenario: (page: Page) => Promise<void>) => Promise<void>;
  /** Runs a scenario in a page that is signed out, of a browser that may present a client certificate. */
  readonly inSignedOutPage: (
    browser: { readonly presentsCertificate: boolean },
    scenario: (page: Page) => Promise<void>,
  ) => Promise<void>;
}

export interface BenchParts {
  readonly server: OrchServer;
  readonly browser: Browser;
  readonly url: string;
  readonly token: string;
  /** In PEM. */
  readonly certificate: { readonly cert: string; readonly key: string };
}

/** A bench whose scenarios may run at the same time. */
export function benchOf(parts: () => BenchParts): ConsoleBench {
  return {
    get server() {
      return parts().server;
    },
    get token() {
      return parts().token;
    },
    inPage: async (address, scenario) => {
      const { browser, url, token } = parts();
      await inside(await openConsole(browser, url, { address }), async (page) => {
        await signIn(page, token);
        await scenario(page);
      });
    },
    inSignedOutPage: async ({ presentsCertificate }, scenario) => {
      const { browser, url, certificate } = parts();
      await inside(await openConsole(browser, url, presentsCertificate ? { certificate } : {}), scenario);
    },
  };
}

/** Runs a scenario in a page, and closes the page. */
async function inside(page: Page, scenario: (page: Page) => Promise<void>): Promise<void> {
  try {
    await scenario(page);
    expect(offencesOf(page)).toEqual({ requests: [], violations: [], errors: [] });
  } finally {
    await page.context().close();
  }
}
