package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.nats.client.Nats;
import io.nats.client.api.CompressionOption;
import io.nats.client.api.DiscardPolicy;
import io.nats.client.api.PersistMode;
import io.nats.client.api.Republish;
import io.nats.client.api.StreamConfiguration;
import java.time.Duration;
import java.util.Map;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A stream that somebody else has made, or changed. */
class StreamsTest {
  private final String name = "S-" + Servers.app();

  private StreamConfiguration.Builder wanted() {
    return StreamConfiguration.builder().name(name).subjects(name + ".>")
        .duplicateWindow(StreamSetup.DEDUPLICATION_WINDOW)
        .allowDirect(true);
  }

  private void make(UnaryOperator<StreamConfiguration.Builder> difference) throws Exception {
    var tools = Nats.connect(Servers.shared().url());
    try {
      tools.jetStreamManagement().addStream(difference.apply(wanted()).build());
      StreamSetup.create(tools.jetStreamManagement(), NatsNetwork.Role.KEEPER, wanted().build());
    } finally {
      tools.close();
    }
  }

  static Stream<Arguments> harmful() {
    return Stream.of(of("max_bytes is 1000000 instead of unset", one -> one.maxBytes(1_000_000)),
        of("max_msgs is 5 instead of unset", one -> one.maxMessages(5)),
        of("max_age is 3600000000000 instead of unset", one -> one.maxAge(Duration.ofHours(1))),
        of("max_msg_size is 1000 instead of unset", one -> one.maximumMessageSize(1_000)),
        of("max_msgs_per_subject is 1 instead of unset", one -> one.maxMessagesPerSubject(1)),
        of("max_consumers is 5 instead of unset", one -> one.maxConsumers(5)),
        of("persist_mode is \"async\" instead of unset", one -> one.persistMode(PersistMode.Async)),
        of("republish is {", one -> one.republish(Republish.builder().source(">").destination("copy.>").build())),
        of("deny_purge is true instead of unset", one -> one.denyPurge(true)),
        of("allow_direct is unset instead of true", one -> one.allowDirect(false)),
        of("duplicate_window is 60000000000 instead of 120000000000",
            one -> one.duplicateWindow(Duration.ofMinutes(1))));
  }

  private static Arguments of(String told, UnaryOperator<StreamConfiguration.Builder> difference) {
    return Arguments.of(told, difference);
  }

  @ParameterizedTest
  @MethodSource("harmful")
  void aHarmfulSettingIsRefused(String told, UnaryOperator<StreamConfiguration.Builder> difference) {
    Servers.assumeThere();
    String text = assertThrows(IllegalStateException.class, () -> make(difference)).getMessage();

    assertEquals("stream " + name + " is not as this program would make it: " + told,
        text.substring(0, text.indexOf(told) + told.length()), text);
  }

  @Test
  void harmlessSettingIsAccepted() throws Exception {
    make(one -> one.description("of the bank").metadata(Map.of("team", "bank"))
        .compressionOption(CompressionOption.S2));
  }

  /** Accounts with {@code max_bytes_required} need such a limit. */
  @Test
  void harmlessStreamLimitIsAccepted() throws Exception {
    make(one -> one.maxBytes(1_000_000).maxMessages(5_000).discardPolicy(DiscardPolicy.New));
  }
}
