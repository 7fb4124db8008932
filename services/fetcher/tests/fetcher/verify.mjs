// Verifies signed requests, one a line of JSON on stdin, with http-message-sig of npm (0.3 or later), as Web Bot Auth profiles
// them. The argument is the directory where that was installed. Each request must verify for its own address, and not for
// another. (The package web-bot-auth 0.1 does not know the dictionary form of signature-agent, which the draft demands.)
import { createInterface } from "node:readline";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

const module = join(process.argv[2], "node_modules/http-message-sig/dist/index.mjs");
const { component, verifySignature, webcrypto } = await import(pathToFileURL(module));

const policyOf = (label) => ({
  algorithms: ["ed25519"],
  requiredComponents: ["@authority", component("signature-agent", { key: label })],
  requiredParameters: ["created", "expires", "keyid", "tag"],
});

for await (const line of createInterface({ input: process.stdin })) {
  const { url, key, ...headers } = JSON.parse(line);
  const label = headers["signature-agent"].split("=")[0];
  const jwk = { kty: "OKP", crv: "Ed25519", x: key };
  const verifier = webcrypto.verifier(await crypto.subtle.importKey("jwk", jwk, "Ed25519", false, ["verify"]));
  const options = { policy: policyOf(label), resolveVerifier: () => verifier };
  const { parameters } = await verifySignature(new Request(url, { headers }), options);
  if (parameters.tag !== "web-bot-auth") {
    throw new Error(`${url}: its tag is ${parameters.tag}`);
  }
  const elsewhere = new Request("https://elsewhere.test/", { headers });
  const isRefused = await verifySignature(elsewhere, options).then(() => false, () => true);
  if (!isRefused) {
    throw new Error(`${url}: it verifies for another address, too`);
  }
  console.log("verified");
}
