// node scripts/console-pictures.mjs: draws the pictures of docs/console.md, from a server with the objects of the demo.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { chromiumProgram } from './chromium.mjs';
import { build, root } from './setup.mjs';

const token = 'token-for-the-pictures';

/** What each picture shows. @type {readonly { name: string, address: string, ready: string, colours: 'light' | 'dark' }[]} */
const pictures = [
  { name: 'object', address: '#/object/apps%2Fv1/deployments/demo/web', ready: 'text=complete', colours: 'dark' },
  { name: 'list', address: '#/list/v1/pods', ready: 'text=Completed', colours: 'light' },
];

/** Starts a server with the demo. Resolves to its URL once it is ready. */
async function start(/** @type {string} */ folder) {
  const tokens = join(folder, 'tokens.csv');
  writeFileSync(tokens, `${token},admin,1,"system:masters"\n`, { mode: 0o600 });
  const flags = [`--data-dir=${folder}`, `--token-auth-file=${tokens}`];
  const server = spawn(process.execPath, [join(root, 'dist/server/main.js'), 'demo', ...flags]);
  const url = await new Promise((resolve) => {
    let printed = '';
    server.stdout.on('data', (piece) => {
      printed += piece;
      const found = /is ready at (\S+)/.exec(printed);
      if (found !== null) resolve(found[1]);
    });
    server.stderr.pipe(process.stderr);
  });
  return { url: String(url), stop: () => server.kill() };
}

/** @param {import('playwright-core').Browser} browser @param {string} url @param {typeof pictures[number]} picture */
async function draw(browser, url, { name, address, ready, colours }) {
  const viewport = { width: 1200, height: 640 };
  const context = await browser.newContext({ ignoreHTTPSErrors: true, locale: 'en', colorScheme: colours, viewport });
  const page = await context.newPage();
  await page.goto(`${url}/console/${address}`);
  await page.getByLabel('Bearer token').fill(token);
  await page.getByRole('button', { name: 'Sign in with the token' }).click();
  await page.locator('[data-status=live]').first().waitFor();
  await page.locator(ready).first().waitFor();
  await page.screenshot({ path: join(root, `docs/pictures/console-${name}.png`), animations: 'disabled' });
  await context.close();
}

build();
const folder = mkdtempSync(join(tmpdir(), 'orch-pictures-'));
const server = await start(folder);
const browser = await chromium.launch({ executablePath: chromiumProgram() ?? '', args: ['--no-sandbox'] });
try {
  for (const picture of pictures) await draw(browser, server.url, picture);
} finally {
  await browser.close();
  server.stop();
  rmSync(folder, { recursive: true, force: true });
}
