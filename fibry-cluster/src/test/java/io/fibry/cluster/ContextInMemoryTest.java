package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.codec.Codec;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ContextInMemoryTest extends ContextContract {
  ContextInMemoryTest() {
    super("shop", TestNetwork.inMemory());
  }

  /** The form in which older nodes, which knew no contexts, sent messages. */
  private static final class Old {
    private record Group(Optional<String> key, List<byte[]> bodies) {}

    private record Groups(List<Group> groups) {}
  }

  private static final Codec<Old.Groups> OLD = Codec.of(Old.Groups.class);

  @Test
  void messagesOfAnOlderNodeHaveNoContexts() {
    var read =
        TellBundle
            .groups(OLD.encode(new Old.Groups(List.of(new Old.Group(Optional.of("k"), List.of(new byte[] {7}))))));

    assertEquals(1, read.size());
    assertEquals(Optional.of("k"), read.getFirst().key());
    assertEquals(7, read.getFirst().bodies().getFirst()[0]);
    assertEquals("", read.getFirst().context(0));
  }

  @Test
  void olderNodeReadsMessagesWithContexts() {
    var to = new RemoteSender.RemoteAddress("order/k", Optional.of("k"), false);
    var first = new RemoteSender.OutboundTell(to, "first", new byte[] {7}, "tenant=acme");
    var other = new RemoteSender.OutboundTell(to, "other", new byte[] {8}, "");

    byte[] body = TellBundle.of(List.of(first, other)).body();

    var read = OLD.decode(body).groups().getFirst();
    assertEquals(Optional.of("k"), read.key());
    assertEquals(2, read.bodies().size());
    assertEquals(List.of("tenant=acme", ""), TellBundle.groups(body).getFirst().contexts());
  }
}
