package io.fibry.cluster;

import io.fibry.nats.Servers;
import io.fibry.support.Soak;
import io.nats.client.Nats;
import io.nats.client.api.ConsumerConfiguration;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class QueueOverNatsTest extends QueueContract {
  QueueOverNatsTest() {
    super(Servers.app(), new TestNetwork(Servers.network()));
  }

  /** Makes the server redeliver work that is not acknowledged within a second. */
  @Override
  void redeliverUnfinishedWork(String queue) throws Exception {
    var client = Nats.connect(Servers.shared().url());
    try {
      var streams = client.jetStreamManagement();
      String stream = "FB_" + app + "_work";
      var consumer = streams.getConsumerInfo(stream, "fb_" + app + "_w_" + queue).getConsumerConfiguration();
      streams.addOrUpdateConsumer(stream,
          ConsumerConfiguration.builder(consumer).ackWait(Duration.ofSeconds(1)).build());
    } finally {
      client.close();
    }
  }

  /** The server redelivers work if it has got no message of the crashed node for 15 seconds. */
  @Soak(counterpart = "QueueInMemoryTest.workOfCrashedNodeIsDoneByAnotherNode")
  @Override
  @Test
  void workOfCrashedNodeIsDoneByAnotherNode() {
    super.workOfCrashedNodeIsDoneByAnotherNode();
  }
}
