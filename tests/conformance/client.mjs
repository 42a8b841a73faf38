// What a client of the TypeScript SDK gets from the hub, as one JSON object: `node client.mjs MODE URL TOKEN`
// over HTTP, `node client.mjs MODE -- COMMAND ...` over stdio; MODE is auto or legacy.
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";

const [mode, address, ...rest] = process.argv.slice(2);
const transport =
  address === "--"
    ? new StdioClientTransport({ command: rest[0], args: rest.slice(1), env: process.env })
    : new StreamableHTTPClientTransport(new URL(address), {
        requestInit: { headers: { Authorization: `Bearer ${rest[0]}` } },
      });
const client = new Client({ name: "tests", version: "1" }, { versionNegotiation: { mode } });
await client.connect(transport);

const call = (name, given) => client.callTool({ name, arguments: given });
const set = async (value) => {
  const answer = await call("decision", { action: "set", key: "api/auth", value });
  if (answer.isError) throw new Error(answer.content[0].text);
};
const uri = "ctxhub://decision/api/auth";

await set("JWT");
const found = {
  version: client.getNegotiatedProtocolVersion(),
  tools: (await client.listTools()).tools.map((tool) => tool.name),
  resources: (await client.listResources()).resources.map((resource) => resource.uri),
  templates: (await client.listResourceTemplates()).resourceTemplates.map((each) => each.uriTemplate),
  prompts: (await client.listPrompts()).prompts.map((prompt) => prompt.name),
  read: JSON.parse((await client.readResource({ uri })).contents[0].text).items[0].value,
  prompt: (await client.getPrompt({ name: "start", arguments: { task: "Tests" } })).messages[0].content.type,
  completed: (
    await client.complete({
      ref: { type: "ref/resource", uri: "ctxhub://decision/{+key}" },
      argument: { name: "key", value: "api" },
    })
  ).completion.values,
  refused: (await call("decision", { action: "set", key: "api/auth" })).isError,
  missing: await client.readResource({ uri: "ctxhub://decision/none" }).then(
    () => "found",
    (error) => error.code,
  ),
};
if (client.getProtocolEra() === "modern") {
  const heard = new Promise((resolve) =>
    client.setNotificationHandler("notifications/resources/updated", (note) => resolve(note.params.uri)),
  );
  const listening = await client.listen({ resourceSubscriptions: [uri] });
  await set("JWE");
  found.heard = await heard;
  await listening.close();
}
await client.close();
console.log(JSON.stringify(found));
