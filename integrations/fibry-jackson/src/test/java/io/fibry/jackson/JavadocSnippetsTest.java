package io.fibry.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.ActorSystem;
import io.fibry.Request;
import io.fibry.codec.Codec;
import io.fibry.durable.Durable;
import io.fibry.store.folder.FolderStore;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** The code that the Javadoc and the README show. */
class JavadocSnippetsTest {
  // @start region="codec"
  sealed interface Message {}
  record Deposit(long cents) implements Message {}
  record Balance() implements Message, Request<Balance, Long> {}

  sealed interface Event {}
  record Deposited(long cents) implements Event {}

  static final Durable<Message> ACCOUNT = Durable.kind("account", Message.class)
      .messages(JacksonCodec.of(Message.class))
      .events(JacksonCodec.of(Event.class), 0L, (Long cents, Event event) -> switch (event) {
        case Deposited d -> cents + d.cents();
      })
      .by((cents, message, context) -> {
        switch (message) {
          case Deposit d -> context.persist(new Deposited(d.cents()));
          case Balance b -> context.reply(b, cents);
        }
      });
  // @end

  // @start region="mapped"
  record Seen(String url, JsonNode answer) {}

  private static final JsonMapper MAPPER = new JsonMapper();

  static final Codec<Seen> SEEN = JacksonCodec.of(Seen.class, forms -> forms,
      mapped -> mapped.by(JsonNode.class, MAPPER.readTree("{\"an\": [\"example\"]}"), MAPPER));
  // @end

  @Test
  void anAccountIsThereTheNextTime(@TempDir Path folder) {
    for (int times = 1; times < 4; times++)
      try (var store = FolderStore.open(folder);
          var ada = ACCOUNT.newActor(ActorSystem.named("ada"), store)) {
            ada.sendMessage(new Deposit(500));

            assertEquals(500 * times, ada.ask(new Balance()));
          }
  }

  @Test
  void aTreeIsKept() {
    var seen = new Seen("/", MAPPER.readTree("{\"status\":200}"));

    assertEquals("{\"Seen\":{\"url\":\"/\",\"answer\":{\"status\":200}}}", new String(SEEN.encode(seen), UTF_8));
    assertEquals(seen, SEEN.decode(SEEN.encode(seen)));
  }
}
