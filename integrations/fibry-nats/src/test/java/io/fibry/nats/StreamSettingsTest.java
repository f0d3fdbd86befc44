package io.fibry.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.fibry.nats.stream.StreamSetup;
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

/** Tests streams that another program has created or changed. */
class StreamSettingsTest {
  private final String name = "S-" + Servers.app();

  private StreamConfiguration.Builder configuration() {
    return StreamConfiguration.builder().name(name).subjects(name + ".>")
        .duplicateWindow(StreamSetup.DEDUPLICATION_WINDOW)
        .allowDirect(true);
  }

  private void createAndCheck(UnaryOperator<StreamConfiguration.Builder> difference) throws Exception {
    var client = Nats.connect(Servers.shared().url());
    try {
      client.jetStreamManagement().addStream(difference.apply(configuration()).build());
      StreamSetup.create(client.jetStreamManagement(), NatsNetwork.Role.KEEPER, configuration().build());
    } finally {
      client.close();
    }
  }

  static Stream<Arguments> harmful() {
    return Stream.of(of("max_bytes is 1000000 instead of unset", builder -> builder.maxBytes(1_000_000)),
        of("max_msgs is 5 instead of unset", builder -> builder.maxMessages(5)),
        of("max_age is 3600000000000 instead of unset", builder -> builder.maxAge(Duration.ofHours(1))),
        of("max_msg_size is 1000 instead of unset", builder -> builder.maximumMessageSize(1_000)),
        of("max_msgs_per_subject is 1 instead of unset", builder -> builder.maxMessagesPerSubject(1)),
        of("max_consumers is 5 instead of unset", builder -> builder.maxConsumers(5)),
        of("persist_mode is \"async\" instead of unset", builder -> builder.persistMode(PersistMode.Async)),
        of("republish is {",
            builder -> builder.republish(Republish.builder().source(">").destination("copy.>").build())),
        of("deny_purge is true instead of unset", builder -> builder.denyPurge(true)),
        of("allow_direct is unset instead of true", builder -> builder.allowDirect(false)),
        of("duplicate_window is 60000000000 instead of 120000000000",
            builder -> builder.duplicateWindow(Duration.ofMinutes(1))));
  }

  private static Arguments of(String expectedText, UnaryOperator<StreamConfiguration.Builder> difference) {
    return Arguments.of(expectedText, difference);
  }

  @ParameterizedTest
  @MethodSource("harmful")
  void streamWithHarmfulSettingIsRefused(String expectedText, UnaryOperator<StreamConfiguration.Builder> difference) {
    Servers.assumeInstalled();
    String text = assertThrows(IllegalStateException.class, () -> createAndCheck(difference)).getMessage();

    assertEquals("stream " + name + " differs from the stream that this program would create: " + expectedText,
        text.substring(0, text.indexOf(expectedText) + expectedText.length()), text);
  }

  @Test
  void streamWithOtherDescriptionOrCompressionIsAccepted() throws Exception {
    createAndCheck(builder -> builder.description("of the bank").metadata(Map.of("team", "bank"))
        .compressionOption(CompressionOption.S2));
  }

  /** Accounts of NATS with {@code max_bytes_required} need a limit of bytes for each stream. */
  @Test
  void streamThatRefusesNewMessagesAtLimitIsAccepted() throws Exception {
    createAndCheck(builder -> builder.maxBytes(1_000_000).maxMessages(5_000).discardPolicy(DiscardPolicy.New));
  }
}
