package io.fibry.cluster;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.fibry.cluster.remote.OutboundTell;
import io.fibry.cluster.remote.RemoteAddress;
import io.fibry.cluster.remote.TellBundle;
import io.fibry.codec.Codec;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ContextInMemoryTest extends ContextContract {
  ContextInMemoryTest() {
    super("shop", TestNetwork.inMemory());
  }

  /** The form in which older nodes send messages, without contexts. */
  private static final class OldForm {
    private record Group(Optional<String> key, List<byte[]> bodies) {}

    private record Groups(List<Group> groups) {}
  }

  private static final Codec<OldForm.Groups> OLD_CODEC = Codec.of(OldForm.Groups.class);

  @Test
  void messagesOfOlderNodeHaveNoContexts() {
    var groups =
        TellBundle.groups(OLD_CODEC.encode(
            new OldForm.Groups(List.of(new OldForm.Group(Optional.of("k"), List.of(new byte[] {7}))))));

    assertEquals(1, groups.size());
    assertEquals(Optional.of("k"), groups.getFirst().key());
    assertEquals(7, groups.getFirst().bodies().getFirst()[0]);
    assertEquals("", groups.getFirst().context(0));
  }

  @Test
  void olderNodeReadsMessagesWithContexts() {
    var address = new RemoteAddress("order/k", Optional.of("k"), false);
    var tellWithContext = new OutboundTell(address, "first", new byte[] {7}, "tenant=acme");
    var tellWithoutContext = new OutboundTell(address, "other", new byte[] {8}, "");

    byte[] body = TellBundle.of(List.of(tellWithContext, tellWithoutContext)).body();

    var group = OLD_CODEC.decode(body).groups().getFirst();
    assertEquals(Optional.of("k"), group.key());
    assertEquals(2, group.bodies().size());
    assertEquals(List.of("tenant=acme", ""), TellBundle.groups(body).getFirst().contexts());
  }
}
