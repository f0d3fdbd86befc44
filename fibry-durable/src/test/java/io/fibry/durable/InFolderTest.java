package io.fibry.durable;

class InFolderTest extends DurableContract {
  InFolderTest() {
    super(Folders::new);
  }
}
