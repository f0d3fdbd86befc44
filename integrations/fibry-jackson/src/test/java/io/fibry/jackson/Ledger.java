package io.fibry.jackson;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.fibry.codec.Codec;
import java.util.Optional;

/** The first program of the README, which {@link ReadmeTest} runs. */
class Ledger {
  sealed interface Event {}
  record Deposited(long cents, Optional<String> from) implements Event {}
  record Withdrawn(long cents) implements Event {}

  static final Codec<Event> EVENTS = JacksonCodecs.of(Event.class);

  public static void main(String[] args) {
    byte[] stored = EVENTS.encode(new Deposited(500, Optional.of("Ada")));
    System.out.println(new String(stored, UTF_8)); // prints {"Deposited":{"cents":500,"from":"Ada"}}

    var others = "{\"Withdrawn\": {\"cents\": 200, \"by\": \"a newer program\"}}";
    System.out.println(EVENTS.decode(others.getBytes(UTF_8))); // prints Withdrawn[cents=200]
  }
}
