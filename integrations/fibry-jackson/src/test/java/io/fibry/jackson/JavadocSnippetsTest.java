package io.fibry.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.durable.Durable;
import io.fibry.net.HttpException;
import io.fibry.net.HttpRoutes;
import io.fibry.net.HttpServer;
import io.fibry.store.folder.FolderStore;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.CoercionAction;
import tools.jackson.databind.cfg.CoercionInputShape;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.type.LogicalType;

/** Runs the code that the Javadoc and the README show. */
class JavadocSnippetsTest {
  // @start region="codec"
  sealed interface Message {}
  record Deposit(long cents) implements Message {}
  record Balance() implements Message, Request<Balance, Long> {}

  sealed interface Event {}
  record Deposited(long cents) implements Event {}

  static final Durable<Message> ACCOUNT = Durable.kind("account", Message.class)
      .messages(JacksonCodecs.of(Message.class))
      .events(JacksonCodecs.of(Event.class), 0L, (Long cents, Event event) -> switch (event) {
        case Deposited d -> cents + d.cents();
      })
      .handler((cents, message, context) -> {
        switch (message) {
          case Deposit d -> context.persist(new Deposited(d.cents()));
          case Balance b -> context.reply(b, cents);
        }
      });
  // @end

  // @start region="mapped"
  record Seen(String url, JsonNode answer) {}

  private static final JsonMapper MAPPER = new JsonMapper();

  static final Codec<Seen> SEEN = JacksonCodecs.of(Seen.class, forms -> forms,
      mapped -> mapped.map(JsonNode.class, MAPPER.readTree("{\"an\": [\"example\"]}"), MAPPER));
  // @end

  // @start region="bodies"
  record Order(String what, int count) {}
  record Receipt(int number, Order order) {}

  static final JsonMapper STRICT = JsonMapper.builder()
      .enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)            // such as a misspelt field
      .enable(DeserializationFeature.FAIL_ON_MISSING_CREATOR_PROPERTIES)    // also a missing int
      .disable(DeserializationFeature.ACCEPT_FLOAT_AS_INT)                  // 1.5 instead of an int
      .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)                     // "2" instead of an int
      .enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)                        // 1 instead of a constant
      .withCoercionConfig(LogicalType.Textual,                              // 7 instead of a text
          text -> text.setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
              .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
              .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail))
      .build();

  static HttpRoutes orders() {
    return HttpRoutes.none().withBodyCodec(JsonBodyCodec.of(STRICT))
        .object("POST /orders", exchange -> new Receipt(1, exchange.bodyAs(Order.class)))
        .object("GET /orders/{id}", exchange -> {
          throw new HttpException(404, "no order " + exchange.path("id"));
        });
  }
  // @end

  @Test
  void httpBodiesAreReadAndWrittenAsJson() throws Exception {
    try (var server = HttpServer.open(ActorSystem.anonymous(), 0, orders(), o -> o);
        var client = HttpClient.newHttpClient()) {
      var uri = URI.create("http://localhost:" + server.port() + "/orders");
      var post = HttpRequest.newBuilder(uri).header("Content-Type", "application/json");

      var receipt = client.send(post.POST(BodyPublishers.ofString("{\"what\": \"tea\", \"count\": 2}")).build(),
          BodyHandlers.ofString());
      var refusal = client.send(post.POST(BodyPublishers.ofString("{\"what\": ")).build(), BodyHandlers.ofString());

      assertEquals("{\"number\":1,\"order\":{\"what\":\"tea\",\"count\":2}}", receipt.body());
      assertEquals("application/json", receipt.headers().firstValue("Content-Type").orElseThrow());
      assertTrue(refusal.body().startsWith("400 Bad Request: line 1, column 10: malformed JSON: "), refusal.body());
    }
  }

  @Test
  void accountWithJacksonCodecIsReloadedFromFolderStore(@TempDir Path folder) {
    for (int round = 1; round < 4; round++)
      try (var store = FolderStore.open(folder);
          var ada = ACCOUNT.newActor(ActorSystem.named("ada"), store)) {
            ada.sendMessage(new Deposit(500));

            assertEquals(500 * round, ada.ask(new Balance()));
          }
  }

  @Test
  void jsonTreeIsDecodedFromItsBytes() {
    var value = new Seen("/", MAPPER.readTree("{\"status\":200}"));

    assertEquals("{\"Seen\":{\"url\":\"/\",\"answer\":{\"status\":200}}}", new String(SEEN.encode(value), UTF_8));
    assertEquals(value, SEEN.decode(SEEN.encode(value)));
  }
}
