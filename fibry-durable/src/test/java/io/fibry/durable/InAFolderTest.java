package io.fibry.durable;

class InAFolderTest extends DurableContract {
  InAFolderTest() {
    super(Folders::new);
  }
}
