package io.fibry.durable;

class ParkedMessagesInH2Test extends ParkedMessagesContract {
  ParkedMessagesInH2Test() {
    super(DatabaseStores.h2());
  }
}
