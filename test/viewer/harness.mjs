// Shared by the end-to-end tests: the program as a server, Debian's chromium as a client.
//
// Environment: RB_PROGRAM (the program), RB_OUTPUT (a folder for screenshots), RB_TEST_LEVEL (quick,
// normal, long, full). A test without chromium fails.
import assert from 'node:assert/strict';
import { spawn, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';

const require = createRequire(new URL('../../app/viewer/package.json', import.meta.url));

export const program = process.env.RB_PROGRAM ?? 'build/release/rattleback';
export const output = process.env.RB_OUTPUT ?? 'out/viewer';
export const level = process.env.RB_TEST_LEVEL ?? 'normal';
mkdirSync(join(output, 'cache'), { recursive: true });

const CHROMIUM_PLACES = [process.env.RB_CHROMIUM, '/usr/bin/chromium', '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome'];
const DRAW_INTERVAL = 100; // ms
const PATIENCE = 60000; // ms: a loaded machine may need seconds to draw a frame in software

const servers = new Set(); // that still run

/** Starts `rattleback view WORDS...`; resolves with its url once it listens. */
export async function startServer(...words) {
  return startServerWith({}, ...words);
}

/** The same with other variables of its environment. */
export async function startServerWith(variables, ...words) {
  const child = spawn(program, ['view', ...words, '--json', '--no-browser', '--port', '0'],
    { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, XDG_CACHE_HOME: join(resolve(output), 'cache'), ...variables } });
  servers.add(child);
  child.on('exit', () => servers.delete(child));
  let text = '';
  let errors = '';
  child.stderr.on('data', (bytes) => { errors += bytes; });
  const exited = new Promise((resolve) => { child.on('exit', (code, signal) => resolve({ code, signal })); });
  const line = await new Promise((resolve, reject) => {
    child.stdout.on('data', (bytes) => {
      text += bytes;
      if (text.includes('}')) {
        resolve(text);
      }
    });
    exited.then(() => reject(new Error(`view ${words.join(' ')} ended early: ${errors}`)));
  });
  return {
    url: JSON.parse(line).url,
    pid: child.pid,
    /** Ends it as Ctrl-C does; it must end by itself, cleanly. */
    async stop() {
      child.kill('SIGINT');
      const { code, signal } = await exited;
      assert.equal(signal, null, `the server was ended by ${signal}: ${errors}`);
      assert.equal(code, 0, `the server ended with ${code}: ${errors}`);
      return errors;
    },
  };
}

/** Runs the program to its end; returns its output. */
export function run(...words) {
  return execFileSync(program, words, { encoding: 'utf8', maxBuffer: 1 << 26 });
}

let browser = null;

export async function openBrowser() {
  const place = CHROMIUM_PLACES.find((path) => path && existsSync(path));
  if (!place) {
    throw new Error("chromium is not installed: 'tools/setup.sh test' installs it");
  }
  const { chromium } = require('playwright-core');
  // WebGL is drawn by swiftshader, the page itself is not: composed by swiftshader it takes ten times as long.
  browser = await chromium.launch({ executablePath: place,
    args: ['--no-sandbox', '--use-angle=swiftshader-webgl', '--enable-unsafe-swiftshader', '--disable-dev-shm-usage'] });
  return browser;
}

/** Ends the browser, and a little later the servers that a failed test left: they would keep this process from ending. */
export async function closeBrowser() {
  await browser?.close();
  setTimeout(() => servers.forEach((child) => child.kill('SIGKILL')), 10000).unref();
}

/** Makes the display of a page slow: drawn in software at full rate, one page would take all processors from the other tests. */
function slowDisplay(interval) {
  const request = window.requestAnimationFrame.bind(window);
  let last = 0;
  window.requestAnimationFrame = (fn) => {
    const wait = (time) => {
      if (time - last < interval && time !== last) { // all callbacks of one picture run together
        request(wait);
        return;
      }
      last = time;
      fn(time);
    };
    return request(wait);
  };
}

/** A page whose console and network are watched. troubles must stay empty. interval: ms between pictures; 0: as the display has them. */
export async function openPage(url, { offline = false, touch = false, size = { width: 800, height: 500 }, density = 1, init = null, interval = DRAW_INTERVAL } = {}) {
  const context = await browser.newContext({ viewport: size, deviceScaleFactor: density, offline, hasTouch: touch, isMobile: touch, reducedMotion: 'reduce' });
  context.setDefaultTimeout(PATIENCE);
  if (interval > 0) {
    await context.addInitScript(slowDisplay, interval);
  }
  if (init) {
    await context.addInitScript(init);
  }
  const page = await context.newPage();
  const troubles = [];
  const requests = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') {
      const words = message.text();
      // Drawing in software is slow, and chromium says so.
      if (!/GPU stall|GL Driver Message|swiftshader/i.test(words)) {
        troubles.push(words);
      }
    }
  });
  page.on('pageerror', (error) => troubles.push(String(error.stack ?? error)));
  page.on('request', (request) => requests.push(request.url()));
  await page.goto(url);
  return { page, troubles, requests, close: () => context.close() };
}

/** Waits until a function of the page gives true. */
export async function until(page, condition, argument, timeout = PATIENCE) {
  await page.waitForFunction(condition, argument, { timeout, polling: 50 });
}

export async function waitForScene(page, name, timeout = PATIENCE) {
  await until(page, (wanted) => window.rattleback?.model?.scene?.name === wanted
    && window.rattleback.ready === true, name, timeout);
}

/** Opens a scene by a command and waits until the page shows it: it, not an earlier opening of the same one. */
export async function openScene(page, name) {
  await page.evaluate(() => { window.sceneBefore = window.rattleback.model.scene; });
  const reply = await command(page, { do: 'open', scene: name });
  assert.equal(reply.ok, true, reply.error);
  await until(page, () => window.rattleback.model.scene !== window.sceneBefore);
  await waitForScene(page, name);
}

/** The shown time, s. */
export function timeOf(page) {
  return page.evaluate(() => window.rattleback.model.time);
}

/** Sends a command and returns the reply. */
export function command(page, words) {
  return page.evaluate((given) => window.rattleback.model.do(given), words);
}

export function screenshot(page, name) {
  return page.screenshot({ path: join(output, `${name}.png`) });
}
